/** Arbitrary texts of many kinds. */
import fc from 'fast-check'
import { anyCharacter } from '../../characters.js'

/** Any sequence of UTF-16 code units, including lone surrogates. */
const codeUnits = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(unit => String.fromCharCode(unit)) })

export const wellFormed = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: fc.constantFrom('a', "'", 'll', 'T', ' ', '\n', '1', '.', '，', '他', 'e\u0301', '👍', '/') }),
  fc.constantFrom('<|endoftext|>', 'a<|im_start|>user', '\ufeffmarked', 'data: [DONE]\n\n', "don't  stop\n\n  now "),
)

export const anyText = fc.oneof(wellFormed, codeUnits)

/** Typical words, numbers and punctuation of prose and code, long enough to be split into blocks. */
export const longText = fc
  .array(
    fc.constantFrom(
      'word',
      ' The',
      " don't",
      ' naïve',
      ' 2024',
      '!?',
      '\n\n',
      '    return x;',
      ' {"key":[1,2]}',
      '他们不用，',
      ' Жук',
      ' 👩‍👩‍👧',
      '\t',
    ),
    { minLength: 100, maxLength: 400 },
  )
  .map(words => words.join(''))
