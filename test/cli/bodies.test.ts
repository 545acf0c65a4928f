import { expect, test } from 'vitest'
import { bodyLines } from '../../src/cli/bodies.js'
import { createColors } from '../../src/cli/output.js'
import type { JournalEntry } from '../../src/journal/index.js'
import { liveWith } from '../recordings/live.js'
import { hello, platformWith, type Scene } from '../scene.js'

const colors = createColors(false)

/** What --verbose shows below the line of the last request. */
async function shownOf(platform: Scene): Promise<readonly string[]> {
  const response = await fetch(`${platform.url}/__standin/journal?limit=1`)
  const { data } = (await response.json()) as { data: JournalEntry[] }
  return bodyLines(data[0] as JournalEntry, colors)
}

const saying = (content: string) => ({ ...hello, messages: [{ role: 'user', content }] })

test('a request and its answer are shown as indented JSON', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'Hi!' } }] })
  await (await platform.chat(hello)).text()
  const shown = await shownOf(platform)
  expect(shown[0]).toBe('  > 70 B')
  expect(shown).toContain('      "model": "gpt-4o-mini",')
  expect(shown.find(line => line.startsWith('  <'))).toMatch(/^ {2}< \d+ B$/)
  expect(shown.join('\n')).toContain('"content": "Hi!"')
})

test('a stream is shown as its text, with the number and the times of its chunks', async () => {
  const pace = { firstTokenMs: 20, tokensPerSecond: 400 }
  const platform = await platformWith({ pace, rules: [{ reply: { text: 'One two three four.' } }] })
  await (await platform.chat({ ...hello, stream: true })).text()
  const shown = await shownOf(platform)
  const title = shown.findIndex(line => line.startsWith('  <'))
  expect(shown[title]).toMatch(
    /^ {2}< [\d.]+ k?B, \d+ events, \d+ chunks?, the first after [\d.]+ms, the last after [\d.]+ms$/,
  )
  expect(shown.slice(title + 1)).toEqual(['    One two three four.'])
})

test('an error that was rewritten to the documented format is shown with the original answer of the live platform', async () => {
  const live = await liveWith((_request, response) =>
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
  )
  const platform = await platformWith({ mode: 'proxy', upstream: { baseUrl: live.url } })
  await (await platform.chat(hello)).text()
  const shown = await shownOf(platform)
  const title = shown.findIndex(line => line.startsWith('  <'))
  expect(shown.slice(title)).toEqual([
    '  < 20 B, as the live platform sent it',
    '    <h1>Bad gateway</h1>',
    '  < 23 B',
    '    {',
    '      "error": "Bad Gateway"',
    '    }',
  ])
})

test('a long body is cut, with a note of how much is missing', async () => {
  const platform = await platformWith()
  const many = Array.from({ length: 500 }, (_, i) => ({ role: 'user', content: `message ${i}` }))
  await (await platform.chat({ ...hello, messages: many })).text()
  const lines = await shownOf(platform)
  expect(lines.length).toBeLessThan(100)
  expect(lines.find(line => line.includes('more lines'))).toMatch(/^ {4}… [\d,]+ more lines, [\d.]+ kB$/)
  await (await platform.chat(saying('x'.repeat(20_000)))).text()
  const [long = ''] = (await shownOf(platform)).filter(line => line.includes('xxx'))
  expect(long.length).toBeLessThan(600)
  expect(long).toMatch(/… [\d,]+ more characters$/)
})

test('control characters in a body are escaped, so they cannot steer the terminal', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'a\u001b[2Jb\u009bc\u202ed\ttab' } }] })
  for (const stream of [true, false]) {
    await (await platform.chat({ ...saying('\u001b]0;title\u0007'), stream })).text()
    const shown = (await shownOf(platform)).join('')
    expect(shown).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(shown).toContain('\\x9bc\\u202ed')
  }
})

test('a binary body is not printed', async () => {
  const platform = await platformWith()
  const body = Buffer.from([0x89, 0x50, 0x00, 0xff, 0xfe])
  const refused = await platform.ask('/v1/chat/completions', {
    ...{ method: 'POST', body, headers: { 'content-type': 'application/json' } },
  })
  expect(refused.status).toBe(400)
  expect((await shownOf(platform)).slice(0, 2)).toEqual(['  > 5 B', '    (binary data)'])
})

test('credentials and passwords in bodies are not shown', async () => {
  const platform = await platformWith()
  await platform.chat(saying(`my key is ${platform.apiKey}`))
  expect((await shownOf(platform)).join('')).not.toContain(platform.apiKey)
  await platform.ask('/auth/v1/token?grant_type=password', {
    method: 'POST',
    headers: { apikey: platform.anonKey, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', password: 'hush-hush-hush' }),
  })
  const shown = (await shownOf(platform)).join('')
  expect(shown).toContain('ada@example.com')
  expect(shown).not.toContain('hush')
})
