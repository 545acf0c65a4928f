/** What the page says when something did not work. */

/** A request that failed, in words for whoever reads the page. `status` is 0 when there was no answer at all. */
export class Failure extends Error {
  override readonly name = 'Failure'

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

export const noAnswer = () => new Failure(0, 'Standin does not answer. Start it again, and this page goes on.')

export const notLoaded = () =>
  new Failure(0, 'This view could not be loaded. Standin may have been stopped, or built anew since.')

export const signedOut = () => new Failure(401, 'You are not signed in.')

/** Whatever was thrown, as a failure. */
export const failureOf = (thrown: unknown): Failure =>
  thrown instanceof Failure ? thrown : new Failure(-1, thrown instanceof Error ? thrown.message : String(thrown))
