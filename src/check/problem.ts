/** Something wrong in a file, the environment or the flags: reported with its place, all problems at once. */

export interface Problem {
  /** A file's path, or what else the value came from: `--port`, `STANDIN_PORT`. */
  readonly origin: string
  /** 1-based; there for files only. */
  readonly line?: number
  /** 1-based; there for files only. */
  readonly column?: number
  readonly sentence: string
}

/** `platform.config.yaml:3:5: prot is not known here. Did you mean "port"?` */
export function wordProblem({ origin, line, column, sentence }: Problem): string {
  const place = line === undefined ? origin : `${origin}:${line}:${column ?? 1}`
  return `${place}: ${sentence}`
}

/** The problem of a file that could not be read. */
export function unreadable(origin: string, error: unknown): Problem {
  const { code, message } = error as NodeJS.ErrnoException
  const why = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is no text in UTF-8' : (code ?? message)
  return { origin, sentence: `cannot be read (${why}).` }
}

/** Thrown when files or options cannot be used as they are. */
export class ProblemsError extends Error {
  override readonly name = 'ProblemsError'

  constructor(
    readonly problems: readonly Problem[],
    /** Files in which an edit may put things right. */
    readonly files: readonly string[] = [],
  ) {
    super(problems.map(wordProblem).join('\n'))
  }
}
