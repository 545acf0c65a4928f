/** Percent-encoding that never throws. */
import { unescape as decoded } from 'node:querystring'

/** Halves of characters, which UTF-8 does not know, are replaced. */
export const wellFormed = (text: string): string => Buffer.from(text).toString()

export const percentEncoded = (text: string): string => encodeURIComponent(wellFormed(text))

/** As forms are decoded. What is malformed is decoded as far as that goes. */
export const percentDecoded = (text: string): string => decoded(text.replaceAll('+', ' '))
