/** Reads headers in the form of node's flat array. */

/** The first value of the header with this name, which is in small letters. */
export const headerIn = (headers: readonly string[], wanted: string): string | undefined =>
  headers.find((_value, i) => i % 2 === 1 && headers[i - 1]?.toLowerCase() === wanted)
