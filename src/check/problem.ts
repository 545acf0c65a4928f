/** A mistake in a file, the environment or the flags. All of them are reported at once, with their places. */
import { isUtf8 } from 'node:buffer'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Path } from './check.js'

export interface Problem {
  /** The source of the value: a file's path, `--port`, `STANDIN_PORT`. */
  readonly origin: string
  /** 1-based; for files only. */
  readonly line?: number
  /** 1-based; for files only. */
  readonly column?: number
  readonly sentence: string
}

/** A configuration as a feature reads it: its own options, and where they were read. */
export interface Loaded<C> {
  readonly config: C
  readonly file: string | undefined
  /** Paths in the configuration are relative to this folder. */
  readonly dir: string
  /** Where an option was set: `default`, `platform.config.yaml:3`, `STANDIN_PORT`, `--port`. */
  originOf(option: Path): string
  /** Where a mistake in an option is: with line and column if it is in the file. */
  placeOf(option: Path): Omit<Problem, 'sentence'>
}

/** Replaces a text whose value is unknown because of a problem that has already been reported. */
export const refusedText = Symbol('a refused text')

/** For example `platform.config.yaml:3:5: prot is not known here. Did you mean "port"?` */
export function problemInWords({ origin, line, column, sentence }: Problem): string {
  const place = line === undefined ? origin : `${origin}:${line}:${column ?? 1}`
  return `${place}: ${sentence}`
}

/** The problem for a file that could not be read. */
export function unreadable(origin: string, error: unknown): Problem {
  if (error instanceof ProblemsError) return { sentence: error.message, ...error.problems[0], origin }
  const { code, message } = error as NodeJS.ErrnoException
  return { origin, sentence: `cannot be read (${code ?? message}).` }
}

/** Thrown if files or options cannot be used. */
export class ProblemsError extends Error {
  override readonly name = 'ProblemsError'

  constructor(
    readonly problems: readonly Problem[],
    /** The files that can be edited to fix the problem. */
    readonly files: readonly string[] = [],
  ) {
    super(problems.map(problemInWords).join('\n'))
  }
}

/** What is wrong, if an error is about files or options; otherwise its message. */
export const problemsIn = (error: unknown): readonly Problem[] =>
  error instanceof ProblemsError
    ? error.problems
    : [{ origin: 'configuration', sentence: error instanceof Error ? error.message : String(error) }]

/** A sentence for the user about why a platform could not start. */
export class StartError extends Error {
  override readonly name: string = 'StartError'
}

/** A mistake in the command line. */
export class UsageError extends StartError {
  override readonly name = 'UsageError'
}

/** Said of a file whose text is in another encoding. */
export const NOT_UTF8 = 'is not UTF-8 text. Save it as UTF-8.'

/** Whether bytes are a text. UTF-16 without a byte order mark may be valid UTF-8, with NULs. */
export const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0)

/** The text in the bytes of a user's file, without a byte order mark. Throws a ProblemsError that calls the file by `name`. */
export function textIn(bytes: Buffer, name: string): string {
  if (!isText(bytes)) throw new ProblemsError([{ origin: name, sentence: NOT_UTF8 }])
  return bytes.toString().replace(/^\ufeff/, '')
}

/** The text of a user's file; 0 is standard input. Throws a ProblemsError that calls the file by `name`. */
export function readText(file: string | 0, name: string): string {
  try {
    return textIn(readFileSync(file), name)
  } catch (error) {
    throw new ProblemsError([unreadable(name, error)])
  }
}

/**
 * Creates a folder and its parents, and returns the first one that it created, if any. Throws the system's error.
 * Node's `recursive` never returns if an existing parent does not allow folders, such as /proc.
 */
export function makeFolder(dir: string, mode?: number): string | undefined {
  if (existsSync(dir)) return undefined
  const parent = path.dirname(dir)
  const firstCreated = parent === dir ? undefined : makeFolder(parent, mode)
  try {
    mkdirSync(dir, { mode })
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return firstCreated
    throw error
  }
  return firstCreated ?? dir
}
