/** Something wrong in a file, the environment or the flags: said with its place, all problems at once. */

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
export const unreadable = (origin: string, error: unknown): Problem => ({
  origin,
  sentence: `cannot be read (${(error as NodeJS.ErrnoException).code}).`,
})

/** Thrown when files or options cannot be used as they are. */
export class ProblemsError extends Error {
  override readonly name = 'ProblemsError'

  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(wordProblem).join('\n'))
  }
}
