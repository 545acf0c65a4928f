/** Describes the exchange in a file without parsing its bodies, so that thousands of files can be listed. */
import { recordingIn, requestIn } from './file-text.js'
import { subjectOf } from './names.js'
import { isStream } from './recording.js'

export type Overview = ReturnType<typeof overviewIn>

/** Throws a ProblemsError for errors outside of the bodies. */
export function overviewIn(text: string, file: string) {
  const { recordedAt, request, response } = recordingIn(outlineOf(text), file)
  return {
    recordedAt,
    method: request.method,
    path: request.path,
    model: modelIn(text),
    status: response.status,
    form: isStream(response) ? ('stream' as const) : ('whole' as const),
    complete: response.complete,
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

/** The model of a JSON request. */
function modelIn(text: string): string | undefined {
  const [, request = ''] = /^request:\r?\n(.*?)^(?=\S)/ms.exec(text) ?? []
  const [, model] = /^ {4}json:\r?\n(?: {6}.*\r?\n)*? {6}model: (.*)$/m.exec(request) ?? []
  return model?.startsWith('"') ? String(JSON.parse(model)) : model
}

export type RecordingSummary = ReturnType<typeof summaryIn>

/** Throws a ProblemsError. */
export function summaryIn(text: string, file: string) {
  const { recordedAt, method, path, model, status, form, complete } = overviewIn(text, file)
  return {
    ...{ recordedAt, method, path, status, complete },
    model: model ?? null,
    said: promptIn(text, file),
    streamed: form === 'stream',
    bytes: Buffer.byteLength(text),
  }
}

const LONGEST_PROMPT = 200

/** Taken from the comment at the top. Only a hand-written file has to be parsed for it. */
function promptIn(text: string, file: string): string | null {
  const [, quoted] = /^\ufeff?# [A-Z]+ [^\n]*?: "([^\n]*)"\r?\n/.exec(text) ?? []
  if (quoted !== undefined) return quoted
  if (text.startsWith('# ') || !/^\s*messages:/m.test(text)) return null
  const prompt = subjectOf(requestIn(text, file)).prompt?.trim().replace(/\s+/g, ' ')
  return prompt?.slice(0, LONGEST_PROMPT) ?? null
}
