import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readYaml } from '../../src/check/yaml.js'
import {
  itemText,
  type ListItem,
  listItems,
  withFlag,
  withItem,
  withItemAtEnd,
  withItemBefore,
  withItemsSwapped,
  withoutItem,
} from '../../src/check/yaml-items.js'
import { runs } from '../runs.js'

const file = `# The rules of the shop.

# Greets.
- name: greeting   # shown in the log
  reply:
    text: |
      # Welcome

      to the shop

  # more to come
# Refuses.
- { name: 'refusal', reply: { text: "No." } } # flow


- reply: {text: bye}
# To be written: returns.
`

const itemsOf = (text: string) => listItems(text) as readonly ListItem[]
const textsOf = (text: string) => itemsOf(text).map(item => itemText(text, item))
const at = (i: number) => itemsOf(file)[i] as ListItem

test('a rule includes the comments above it, and a line with # inside a text is not a comment', () => {
  expect(textsOf(file)).toEqual([
    file.slice(file.indexOf('# Greets.'), file.indexOf('# Refuses.')),
    `# Refuses.\n- { name: 'refusal', reply: { text: "No." } } # flow\n`,
    '- reply: {text: bye}\n',
  ])
})

test('replacing a rule leaves every other byte as it was', () => {
  const changed = withItem(file, at(1), '- reply: { text: Never. }\n')
  expect(changed).toBe(file.replace(/# Refuses\.\n.* # flow\n/, '- reply: { text: Never. }\n'))
})

test('removing a rule also removes its comments and the blank lines that separate it', () => {
  expect(withoutItem(file, at(1))).toBe(file.replace(/# Refuses\.\n.* # flow\n/, ''))
  expect(withoutItem(file, at(0))).toBe(`# The rules of the shop.\n\n${file.slice(file.indexOf('# Refuses.'))}`)
  expect(withoutItem('- a: 1\n\n- b: 2\n', itemsOf('- a: 1\n\n- b: 2\n')[1] as ListItem)).toBe('- a: 1\n')
})

test('two rules swap places with their comments, and what is between them stays', () => {
  const swapped = withItemsSwapped(file, at(1), at(2))
  expect(textsOf(swapped)).toEqual([textsOf(file)[0], textsOf(file)[2], textsOf(file)[1]])
  expect(swapped.endsWith('# flow\n# To be written: returns.\n')).toBe(true)
  expect(withItemsSwapped(swapped, itemsOf(swapped)[1] as ListItem, itemsOf(swapped)[2] as ListItem)).toBe(file)
})

test('an inserted rule is separated as the others are', () => {
  expect(withItemBefore('- a: 1\n- b: 2\n', itemsOf('- a: 1\n- b: 2\n'), 1, '- x: 1')).toBe('- a: 1\n- x: 1\n- b: 2\n')
  const airy = '- a: 1\n\n- b: 2'
  expect(withItemBefore(airy, itemsOf(airy), 1, '- x: 1')).toBe('- a: 1\n\n- x: 1\n\n- b: 2')
  expect(withItemAtEnd('# None yet.', '- x: 1')).toBe('# None yet.\n- x: 1\n')
})

const commented = `- name: one
  reply: { text: 1 }

# two
- name: two
  reply: { text: 2 }

# three
- name: three
  reply:
    text: 3
    # Later: a fault.

# four
- name: four
  reply: { text: 4 }
`

test('the comment above a rule belongs to it, even if the previous rule ends with a comment', () => {
  const items = itemsOf(commented)
  expect(textsOf(commented)[2]).toBe(commented.slice(commented.indexOf('# three'), commented.indexOf('\n# four')))
  expect(textsOf(commented)[3]).toBe('# four\n- name: four\n  reply: { text: 4 }\n')
  expect(withoutItem(commented, items[2] as ListItem)).toBe(commented.replace(/# three\n[\s\S]*(?=# four)/, ''))
  const down = (text: string, i: number) => {
    const found = itemsOf(text)
    return withItemsSwapped(text, found[i] as ListItem, found[i + 1] as ListItem)
  }
  expect(textsOf(down(down(commented, 1), 2))).toEqual([0, 2, 3, 1].map(i => textsOf(commented)[i]))
})

test.each([
  '- a:\n    text: |\n      # no comment\n      x\n\n    # one\n',
  '- a:\n    - |\n      x\n\n    # one\n',
  '- a:\n    b: [1,\n      2]\n    # one\n',
  '- a:\n  # one\n',
  '- ? a\n  # one\n',
])('an item ends with its last comment, and the blank line after it stays: %j', item => {
  const text = `${item}\n# two\n- b: 2\n`
  expect(textsOf(text)).toEqual([item, '# two\n- b: 2\n'])
  expect(withItem(text, itemsOf(text)[0] as ListItem, item)).toBe(text)
})

test('indentation and Windows line endings are kept', () => {
  const text = '  - name: a\r\n    x: 1\r\n  - name: b\r\n'
  const [first] = itemsOf(text)
  expect(itemText(text, first as ListItem)).toBe('- name: a\n  x: 1\n')
  expect(withItem(text, first as ListItem, '- name: c\n  x: 2\n')).toBe('  - name: c\r\n    x: 2\r\n  - name: b\r\n')
})

test('a list in brackets has no lines to edit', () => expect(listItems('[{ a: 1 }]')).toBeUndefined())

test.each([
  ['- name: a # one\n  reply: x\n', '- enabled: false\n  name: a # one\n  reply: x\n'],
  ['# about\n- { name: a }\n', '# about\n- { enabled: false, name: a }\n'],
])('switching %j off and on again restores it', (on, off) => {
  expect(withFlag(on, 'enabled', { value: false, usual: true })).toBe(off)
  expect(withFlag(off, 'enabled', { value: true, usual: true })).toBe(on)
})

test('a comment next to the flag is kept', () => {
  const commented = '- enabled: false # until Monday\n  name: a\n'
  expect(withFlag(commented, 'enabled', { value: true, usual: true })).toBe(commented.replace('false', 'true'))
})

test('no edit of a list changes the values of other items', () => {
  const comment = fc.constantFrom('', '# note\n', '\n# note\n\n', '\n')
  const value = fc.oneof(fc.string({ maxLength: 12 }), fc.integer(), fc.boolean()).map(v => JSON.stringify(v))
  const item = fc
    .tuple(comment, value, fc.constantFrom('', ' # after', '\n  # below', '\n\n    # below\n'))
    .map(([c, v, after]) => `${c}- a: ${v}${after}\n`)
  fc.assert(
    fc.property(fc.array(item, { minLength: 2, maxLength: 6 }), fc.nat(), (parts, n) => {
      const text = parts.join('')
      const items = itemsOf(text)
      const [i, next] = [n % parts.length, (n % parts.length) + 1]
      const values = readYaml(text, 'x').value as unknown[]
      const read = (changed: string) => readYaml(changed, 'x').value ?? []
      expect(items).toHaveLength(parts.length)
      expect(read(withoutItem(text, items[i] as ListItem))).toEqual(values.toSpliced(i, 1))
      expect(read(withItem(text, items[i] as ListItem, '- z: 1\n'))).toEqual(values.with(i, { z: 1 }))
      expect(read(withItemBefore(text, items, i, '- z: 1\n'))).toEqual(values.toSpliced(i, 0, { z: 1 }))
      if (!items[next]) return
      const swapped = values.with(i, values[next]).with(next, values[i])
      expect(read(withItemsSwapped(text, items[i] as ListItem, items[next]))).toEqual(swapped)
    }),
    { numRuns: runs(300) },
  )
})
