import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { MOST_ANSWER_BYTES } from '../src/chat/trim.js'
import { BODY_LIMIT_BYTES } from '../src/control/operations-router.js'
import { MOST_LEVELS, MOST_VALUES, MOST_VALUES_OF_RULES } from '../src/core/json.js'
import { AUTH_BODY_BYTES } from '../src/http/surfaces.js'
import { MOST_ADDED } from '../src/replies/at-run-time.js'
import { RULES_LIMIT_BYTES } from '../src/replies/operations.js'
import { MOST_ROUNDS } from '../src/replies/templates/engine.js'

const page = readFileSync(path.join(import.meta.dirname, '../docs/configuration.md'), 'utf8')

test.each([
  ['levels of objects and arrays in a JSON body', MOST_LEVELS],
  ['strings, commas and brackets in a JSON body', MOST_VALUES],
  ['an answer', MOST_ANSWER_BYTES],
  ['rounds of loops in a template', MOST_ROUNDS],
  ['a body for `/auth/v1`', AUTH_BODY_BYTES],
  ['a body for `/__standin`', BODY_LIMIT_BYTES],
  ['a body with rules', RULES_LIMIT_BYTES],
  ['strings, commas and brackets in rules that are sent', MOST_VALUES_OF_RULES],
  ['rules that were sent', MOST_ADDED],
])('the documented limit is the one in the code: %s', (what, most) => {
  const line = page.split('\n').find(line => line.startsWith(`- ${what}: `))
  expect(line?.split(': ')[1]?.split(' ')[0]).toBe(most.toLocaleString('en-US'))
})
