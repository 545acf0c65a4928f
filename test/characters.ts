/** Any Unicode character, for property tests: fast-check's own `binary` takes a second to list a million of them. */
import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }
const LAST = 0x10ffff

/** Pass it to `fc.string` as `unit`. */
export const anyCharacter = fc.nat(LAST - SURROGATES.count).map(
  place => String.fromCodePoint(place < SURROGATES.first ? place : place + SURROGATES.count),
  // The reverse mapping lets fast-check also try strings known to be dangerous, such as __proto__.
  character => {
    if (typeof character !== 'string' || [...character].length !== 1) throw new Error('Not one character.')
    const code = character.codePointAt(0) as number
    return code < SURROGATES.first ? code : code - SURROGATES.count
  },
)
