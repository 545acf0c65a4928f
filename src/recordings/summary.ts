/** Describes the exchange in a file without parsing its answer, so that thousands of files can be listed. */
import { recordingIn, requestIn } from './file-text.js'
import { subjectOf } from './names.js'
import { isStream } from './recording.js'

export type RecordingSummary = ReturnType<typeof summaryIn>

/** Throws a ProblemsError for errors outside of the bodies. */
export function summaryIn(text: string, file: string) {
  const { recordedAt, request, response } = recordingIn(outlineOf(text), file)
  const { model = null, prompt = null } = subjectIn(text, file)
  return {
    ...{ recordedAt, method: request.method, path: request.path, model, said: prompt },
    ...{ status: response.status, streamed: isStream(response), complete: response.complete },
    bytes: Buffer.byteLength(text),
  }
}

/**
 * Returns only the lines outside of bodies and chunks, if the file is laid out as we write it. Otherwise returns all of
 * it.
 */
function outlineOf(text: string): string {
  if (!/^request:$/m.test(text) || !/^response:$/m.test(text)) return text
  const lines: string[] = []
  let isBody = false
  for (const line of text.split('\n')) {
    // Dropped lines become blank, so that errors name the right line. Comments are dropped because they are long.
    const isKey = /^(?: {2})?[^\s#-]/.test(line)
    if (isKey) isBody = /^ {2}(?:body|chunks):\s*$/.test(line)
    lines.push(isBody || line.startsWith('#') ? '' : line)
  }
  return lines.join('\n')
}

const LONGEST_PROMPT = 200

/** Taken from the comment at the top. Only a hand-written file has to be parsed for it. */
function subjectIn(text: string, file: string): Partial<Record<'model' | 'prompt', string>> {
  const [heading, model, prompt] = /^\ufeff?# [A-Z]+ \S+(?:, ([^"\n]+?))?(?:: "([^\n]*)")?\r?\n/.exec(text) ?? []
  if (heading !== undefined) return { ...(model && { model }), ...(prompt && { prompt }) }
  const subject = subjectOf(requestIn(text, file))
  const said = subject.prompt?.trim().replace(/\s+/g, ' ').slice(0, LONGEST_PROMPT)
  return { ...(subject.model && { model: subject.model }), ...(said && { prompt: said }) }
}
