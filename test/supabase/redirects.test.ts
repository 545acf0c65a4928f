import { expect, test } from 'vitest'
import { backendWith, follow, newUser } from './backend.js'

const site = 'https://app.example.com/home'
const list = [
  'https://*.preview.example.com/**',
  'myapp://callback',
  'https://exact.example.com/path?to=here',
  'https://stars.example.com/*',
  'https://one.example.com/v?/[a-c]',
  'https://{red,blue}.example.com/',
]

/** Where the link of a sign-in email redirects to when the app requests `redirectTo`. */
async function destination(redirectTo: string, settings: Parameters<typeof backendWith>[0] = {}): Promise<string> {
  const backend = await backendWith({ siteUrl: site, uriAllowList: list, ...settings })
  const { email } = newUser()
  await backend.ask(`/otp?${new URLSearchParams({ redirect_to: redirectTo })}`, { body: { email } })
  return new URL(backend.messageTo(email).link).searchParams.get('redirect_to') ?? ''
}

test.each([
  'https://app.example.com',
  'https://app.example.com/elsewhere?a=b#c',
  'http://127.0.0.1:5173/welcome',
  'http://127.9.9.9/',
  'http://[::1]:3000/',
  'https://a.preview.example.com/deep/down',
  'myapp://callback',
  'https://exact.example.com/path?to=here',
  'https://stars.example.com/one',
  'https://one.example.com/v1/b',
  'https://red.example.com/',
])('a link may redirect to %s', async redirectTo => {
  expect(await destination(redirectTo)).toBe(redirectTo)
})

test.each([
  // Another host, however similar.
  'https://evil.example.com/',
  'https://app.example.com.evil.com/',
  'http://localhost.evil.com/',
  // The host is what comes after the @.
  'https://app.example.com@evil.com/',
  'https://user:password@app.example.com/',
  'https://app.example.com%40evil.com/',
  // What browsers treat as slashes, and what they ignore.
  'https://evil.com\\@app.example.com/',
  'https:evil.com',
  '//evil.com/',
  '/relative',
  'https://app.example.com\t.evil.com/',
  'https://app.example.com/\r\nset-cookie: a=b',
  'java\nscript:alert(1)',
  // Not a URL of the web.
  'javascript:alert(1)',
  'JavaScript://app.example.com/%0aalert(1)',
  'data:text/html,hello',
  'file:///etc/passwd',
  // Another scheme, another port.
  'http://app.example.com/',
  'https://app.example.com:8443/',
  // Numbers in disguise.
  'http://2130706433/',
  'http://0.0.0.0:3000/',
  'http://169.254.169.254/latest/meta-data',
  'http://10.0.0.1/',
  // Letters that look alike.
  'https://\u0430pp.example.com/',
  // Similar to what the list allows.
  'https://a.b.preview.example.com/',
  'https://evil.com/.preview.example.com/x',
  'myapp://callback/more',
  'https://exact.example.com/path?to=there',
  'https://stars.example.com/one/two',
  'https://one.example.com/v12/b',
  'https://green.example.com/',
  '',
])('a link may not redirect to %j', async redirectTo => {
  expect(await destination(redirectTo)).toBe(site)
})

test('the redirect_to header takes precedence over the query, and the referer comes last', async () => {
  const backend = await backendWith({ siteUrl: site })
  const { email } = newUser()
  const destinationFor = async (query: string, headers: Record<string, string>) => {
    await backend.ask(`/otp${query}`, { body: { email }, headers })
    return new URL(backend.messageTo(email).link).searchParams.get('redirect_to')
  }
  const [one, two, three] = ['http://127.0.0.1/1', 'http://127.0.0.1/2', 'http://127.0.0.1/3']
  expect(await destinationFor(`?redirect_to=${two}`, { redirect_to: one, referer: three })).toBe(one)
  expect(await destinationFor(`?redirect_to=${two}`, { referer: three })).toBe(two)
  expect(await destinationFor('', { referer: three })).toBe(three)
  expect(await destinationFor('?redirect_to=javascript:alert(1)', { referer: three })).toBe(three)
  expect(await destinationFor('', { referer: 'https://evil.com/' })).toBe(site)
})

test('a tampered link redirects only where the settings allow', async () => {
  const backend = await backendWith({ siteUrl: site })
  const { email } = newUser()
  await backend.ask('/otp', { body: { email } })
  const url = new URL(backend.messageTo(email).link)
  for (const bad of ['https://evil.com/', '//evil.com', 'javascript:alert(1)', 'https://app.example.com@evil.com/']) {
    url.searchParams.set('redirect_to', bad)
    url.searchParams.set('token', 'wrong')
    expect((await follow(url.href)).location).toMatch(/^https:\/\/app\.example\.com\/home#error=/)
  }
})

test('a redirect to another port of the site is allowed only on this machine', async () => {
  const backend = await backendWith({ siteUrl: 'http://localhost:3000', uriAllowList: [] })
  const { email } = newUser()
  for (const [wanted, expected] of [
    ['http://localhost:5173/x', 'http://localhost:5173/x'],
    ['http://localhost.evil.com:3000/', 'http://localhost:3000'],
    ['https://localhost:3000/', 'http://localhost:3000'],
  ] as const) {
    await backend.ask(`/otp?redirect_to=${wanted}`, { body: { email } })
    expect(new URL(backend.messageTo(email).link).searchParams.get('redirect_to')).toBe(expected)
  }
})

// With backtracking, this would take days.
