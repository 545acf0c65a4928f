/** Something wrong in a file, the environment or the flags: reported with its place, all problems at once. */
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'

export interface Problem {
  /** Where the value came from: a file's path, `--port`, `STANDIN_PORT`. */
  readonly origin: string
  /** 1-based; for files only. */
  readonly line?: number
  /** 1-based; for files only. */
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
    /** Files whose edit may fix the problem. */
    readonly files: readonly string[] = [],
  ) {
    super(problems.map(wordProblem).join('\n'))
  }
}

/** Why a platform could not start, in a sentence for the user. */
export class StartError extends Error {
  override readonly name: string = 'StartError'
}

/** A command line that makes no sense. */
export class UsageError extends StartError {
  override readonly name = 'UsageError'
}

/**
 * Makes a folder and its parents, and returns the first one that it made, if any. Throws the system's error. node's `recursive` never ends where folders
 * cannot be made in an existing parent, as below /proc.
 */
export function makeFolder(dir: string, mode?: number): string | undefined {
  if (existsSync(dir)) return undefined
  const above = path.dirname(dir)
  const made = above === dir ? undefined : makeFolder(above, mode)
  try {
    mkdirSync(dir, { mode })
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return made
    throw error
  }
  return made ?? dir
}
