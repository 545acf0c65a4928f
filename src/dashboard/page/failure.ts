/** The page's messages for failures. */

/** A failed request, described for the user. `status` is 0 if there was no answer. */
export class Failure extends Error {
  override readonly name = 'Failure'

  constructor(
    readonly status: number,
    message: string,
    /** The server's error code, and the name of the field that caused it, if known. */
    readonly about: { readonly code?: string | undefined; readonly field?: string | undefined } = {},
  ) {
    super(message)
  }
}

export const NOT_RUNNING = 'Standin isn’t running. Restart it and this page will reconnect.'
export const noAnswer = () => new Failure(0, NOT_RUNNING)

/** For the `catch` of a fetch. */
export function unanswered(): never {
  throw noAnswer()
}

export const notLoaded = () =>
  new Failure(0, 'This view could not be loaded. Standin may have stopped, or may have been rebuilt. Reload the page.')

/** Turns any thrown value into a Failure. */
export const failureOf = (thrown: unknown): Failure =>
  thrown instanceof Failure ? thrown : new Failure(-1, thrown instanceof Error ? thrown.message : String(thrown))

/** A Failure with the auth backend's own message, which may name the field it is about. */
export function refusal(status: number, message: string, code?: string): Failure {
  // An address that is not confirmed is not a mistake in its field.
  const field = code === 'email_not_confirmed' ? undefined : /\b(password|email|phone)\b/i.exec(message)?.[1]
  return new Failure(status, message, { code, field: field?.toLowerCase() })
}
