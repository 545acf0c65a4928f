/** Why a platform could not start, in a sentence for whoever started it. */
export class StartError extends Error {
  override readonly name: string = 'StartError'
}

/** A command line that cannot be followed. */
export class UsageError extends StartError {
  override readonly name = 'UsageError'
}
