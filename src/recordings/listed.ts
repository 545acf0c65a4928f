/** What the list says of one recording. */
import { requestIn } from './file-text.js'
import { overviewIn } from './overview.js'
import { subjectOf } from './subject.js'

export interface Listed {
  readonly recordedAt: string
  readonly method: string
  readonly path: string
  readonly model: string | null
  /** The beginning of the last thing that the user said. */
  readonly said: string | null
  readonly status: number
  readonly streamed: boolean
  readonly complete: boolean
  /** Of the file. */
  readonly bytes: number
}

/** Throws a ProblemsError. */
export function listedIn(text: string, file: string): Listed {
  const { recordedAt, method, path, model, status, form, complete } = overviewIn(text, file)
  return {
    ...{ recordedAt, method, path, status, complete },
    model: model ?? null,
    said: saidIn(text, file),
    streamed: form === 'stream',
    bytes: Buffer.byteLength(text),
  }
}

const LONGEST_SAID = 200

/** The comment on top says it; only a file that somebody wrote by hand has to be read for it. */
function saidIn(text: string, file: string): string | null {
  const [, quoted] = /^# [A-Z]+ [^\n]*?: "([^\n]*)"\n/.exec(text) ?? []
  if (quoted !== undefined) return quoted
  if (text.startsWith('# ') || !/^\s*messages:/m.test(text)) return null
  const said = subjectOf(requestIn(text, file)).said?.trim().replace(/\s+/g, ' ')
  return said?.slice(0, LONGEST_SAID) ?? null
}
