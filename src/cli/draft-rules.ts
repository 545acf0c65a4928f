/** `standin replies from-recordings`: drafts rules that repeat recorded answers. `standin import --rules` uses it as well. */

import { isUtf8 } from 'node:buffer'
import { existsSync } from 'node:fs'
import { UsageError } from '../check/problem.js'
import { notForARule } from '../core/errors.js'
import { jsonOf } from '../core/json.js'
import {
  bodyOf,
  type DatedEntry,
  inOrder,
  isStream,
  type RecordedRequest,
  type Recording,
} from '../recordings/index.js'
import { type DraftedRules, type DraftSource, draftsOf } from '../replies/index.js'
import { command, outputFile } from './command.js'
import { pluralize } from './format.js'
import { openRecordings, readAll } from './recordings/folder.js'
import { requireWritable, writeReport } from './report/reporter.js'

export const commands = {
  'replies from-recordings': command({
    flags: { output: outputFile('Write the rules to this new file') },
    examples: [
      ['standin replies from-recordings', 'print a rule for each recording'],
      ['standin replies from-recordings --output fixtures/replies/builder.yaml', 'write them to a new file'],
    ],
    async run(line) {
      const { flags } = line
      if (flags.output !== undefined) requireNew('--output', flags.output)
      const { folder } = openRecordings(line)
      const rules = rulesFrom((await readAll(folder, flags, folder.read)).read)
      if (flags.output !== undefined) return writeRules(flags.output, rules)
      for (const note of notesOn(rules)) console.error(note)
      return rules.count === 0 ? 'No rule was drafted.\n' : rules.yaml
    },
  }),
}

/** Throws a UsageError if the file exists, since it may contain hand-written rules. */
export function requireNew(flag: string, file: string): void {
  if (existsSync(file)) throw new UsageError(`${file} already exists. Give ${flag} the name of a new file.`)
  requireWritable(flag, file)
}

/** Drafts rules that repeat the answers of recordings, in the order in which they were recorded. */
export function rulesFrom(recordings: readonly (Recording & DatedEntry)[]): DraftedRules {
  const withText = inOrder(recordings).filter(({ response }) => isUtf8(bodyOf(response)))
  const rules = draftsOf(withText.map(sourceOf))
  const binaryCount = recordings.length - withText.length
  if (binaryCount === 0) return rules
  return {
    ...rules,
    passedOver: new Map([...rules.passedOver, [notForARule('its answer is binary').message, binaryCount]]),
  }
}

/**
 * Writes the rules to a file, unless there are none, and returns the result of the command. `skipped` says what was left
 * out before, a line for each reason.
 */
export async function writeRules(file: string, rules: DraftedRules, skipped: readonly string[] = []) {
  const { yaml, count, passedOver, remarks } = rules
  if (count > 0) await writeReport(file, yaml)
  const data = { rules: count, ...(count > 0 && { file }), passedOver: Object.fromEntries(passedOver), remarks }
  const summary = count > 0 ? `${pluralize(count, 'rule')} written to ${file}.` : 'No rule was drafted.'
  return { data, text: `${[summary, ...notesOn(rules, skipped)].join('\n')}\n` }
}

function notesOn({ passedOver, remarks }: DraftedRules, skipped: readonly string[] = []): readonly string[] {
  const lines = [...skipped, ...[...passedOver].map(([why, count]) => `${count}: ${why}`)]
  return [...(lines.length > 0 ? ['Skipped:', ...lines.map(line => `  ${line}`)] : []), ...remarks]
}

function sourceOf({ recordedAt, request, response }: Recording): DraftSource {
  const { method, path, query } = request
  const text = bodyOf(response).toString('utf8')
  const body = isStream(response) ? text : (jsonOf(text) ?? text)
  return {
    at: recordedAt,
    request: { method, path, query, body: bodyIn(request) },
    status: response.status,
    complete: response.complete,
    error: null,
    firstByteMs: response.headMs,
    response: {
      headers: Object.fromEntries(response.headers),
      body,
      truncated: false,
      piecesAtMs: response.chunks.map(({ atMs }) => atMs),
    },
  }
}

function bodyIn({ body }: RecordedRequest): unknown {
  if (body.kind === 'json') return body.value
  return body.kind === 'text' ? body.text : undefined
}
