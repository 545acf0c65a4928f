// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what .env files have
import { parse } from 'dotenv'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withVariables } from '../../src/environment/env-file.js'

const ours = [
  ['OPENAI_API_KEY', 'sk-local-1'],
  ['SUPABASE_URL', 'http://127.0.0.1:4100'],
  ['ODD', 'a #b"c'],
] as const

test('a line inside a quoted value of several lines stays, and the variable itself is set', () => {
  const text = 'NOTES="how to set it:\nOPENAI_API_KEY=your key\n"\nOPENAI_API_KEY=\'sk-\nmine\'\nLAST=1'
  expect(withVariables(text, [['OPENAI_API_KEY', 'sk-local-1']])).toEqual({
    text: 'NOTES="how to set it:\nOPENAI_API_KEY=your key\n"\n# OPENAI_API_KEY=\'sk-\n# mine\'\nOPENAI_API_KEY=sk-local-1\nLAST=1',
    added: [],
    replaced: ['OPENAI_API_KEY'],
  })
})

test('of several lines for a variable, the first is set, the others become comments; export, indentation and line ends stay', () => {
  const text = '  export SUPABASE_URL = "https://a.test" # mine\r\nSUPABASE_URL=b'
  expect(withVariables(text, [['SUPABASE_URL', 'c']]).text).toBe(
    '#   export SUPABASE_URL = "https://a.test" # mine\r\n  export SUPABASE_URL=c\r\n# SUPABASE_URL=b\r\n',
  )
})

const piece = fc.constantFrom(
  ...[
    'OPENAI_API_KEY',
    'SUPABASE_URL',
    'ODD',
    'OTHER',
    'export ',
    ' ',
    '=',
    ': ',
    '#',
    '"',
    "'",
    '`',
    '\\',
    '$',
    '${ODD}',
  ],
  ...['\n', '\n', '\r\n', 'x', 'https://a.test', '\t', '=', '=\n'],
)

test('whatever a file has, it reads the same afterwards except for our variables, each line is still there, and a second time changes nothing', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), pieces => {
      const before = pieces.join('')
      const { text, added, replaced } = withVariables(before, ours)
      expect(parse(text)).toEqual({ ...parse(before), ...Object.fromEntries(ours) })
      const rest = text.split(/\r?\n/)
      for (const line of before.split(/\r?\n/)) {
        const at = rest.findIndex(one => one === line || one === `# ${line}`)
        expect(at, line).toBeGreaterThanOrEqual(0)
        rest.splice(0, at + 1)
      }
      expect(withVariables(text, ours)).toEqual({ text, added: [], replaced: [] })
      expect([...added, ...replaced].length).toBeLessThanOrEqual(ours.length)
    }),
    { numRuns: 3000 },
  )
})
