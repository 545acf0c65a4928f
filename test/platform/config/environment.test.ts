// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what the tests are about
import { expect, test } from 'vitest'
import { withVariables } from '../../../src/platform/config/load.js'

const fill = withVariables({ NAME: 'Ada', EMPTY: '', _x1: 'low' })

const notAVariable = 'The text between ${ and } is not the name of a variable. Write ${NAME} or ${NAME:-default}.'

test.each([
  ['no variable at all', 'no variable at all'],
  ['${NAME}', 'Ada'],
  ['Dear ${NAME}, dear ${_x1}!', 'Dear Ada, dear low!'],
  ['${NAME:-Bob}', 'Ada'],
  ['${MISSING:-Bob}', 'Bob'],
  ['${EMPTY:-Bob}', 'Bob'],
  ['${MISSING:-}', ''],
  ['${EMPTY}', ''],
  ['${MISSING:-http://a.test:80/-:-}', 'http://a.test:80/-:-'],
  ['$${NAME}', '${NAME}'],
  ['$${NAME} is ${NAME}', '${NAME} is Ada'],
  ['$NAME costs 5$', '$NAME costs 5$'],
  ['{NAME}', '{NAME}'],
])('%s becomes %j', (text, expected) => {
  expect(fill(text)).toBe(expected)
})

test('variables in the value of a variable are not replaced', () => {
  expect(withVariables({ A: '${B}', B: 'no' })('${A}')).toBe('${B}')
})

test.each([
  ['${MISSING}', 'The environment variable MISSING is not set. Set it, or write ${MISSING:-default}.'],
  ['${}', notAVariable],
  ['${a b}', notAVariable],
  ['${1ST}', notAVariable],
  ['${NAME-Bob}', notAVariable],
])('%s is refused', (text, sentence) => {
  expect(() => fill(text)).toThrow(new Error(sentence))
})
