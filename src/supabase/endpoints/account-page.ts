/** The page on which a user chooses an account at another provider, as HTML without scripts. */
import { createHash } from 'node:crypto'
import type { Reply } from '../../core/reply.js'
import type { UserRow } from '../../state/rows.js'
import { nameIn, titleOfProvider } from '../accounts.js'
import type { ProviderName } from '../providers.js'
import { nameOf, type ProviderFlow } from '../social.js'

const style = `
:root { color-scheme: light dark; --text: #1d2129; --muted: #58606e; --line: #8a919e; --back: #fff; --button: #1f5fbf; --on-button: #fff }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaee; --muted: #a8afbc; --line: #767e8c; --back: #16181d; --button: #8db8ff; --on-button: #10131a } }
* { box-sizing: border-box }
body { margin: 0; padding: 1.5rem 1rem; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 26rem; margin: 0 auto }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25 }
h2 { margin: 1.75rem 0 .5rem; font-size: 1rem }
p { margin: .5rem 0 0; color: var(--muted); overflow-wrap: anywhere }
ul { margin: 0; padding: 0; list-style: none; display: grid; gap: .5rem }
button, input[type=email] { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--back); color: inherit; font: inherit }
button { cursor: pointer; text-align: start; overflow-wrap: anywhere }
button:hover { border-color: var(--text) }
button span { display: block; color: var(--muted); font-size: .875rem }
button.main { margin-top: .75rem; border-color: var(--button); background: var(--button); color: var(--on-button); text-align: center; font-weight: 600 }
:focus-visible { outline: 2px solid var(--button); outline-offset: 2px }
.check { display: flex; gap: .5rem; align-items: center; margin-top: .5rem; min-height: 1.75rem }
.check input { width: 1.25rem; height: 1.25rem; margin: 0; flex: none }
.other { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem }
.other button { text-align: center }
`

/** The browser accepts this style sheet and a blank icon, and nothing else; no other page can frame it. */
const headers = [
  'content-security-policy',
  // No form-action: Chromium applies it to the redirects that follow, and only the app knows where those lead.
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; img-src data:; frame-ancestors 'none'; base-uri 'none'`,
  ...['x-frame-options', 'DENY', 'x-content-type-options', 'nosniff'],
  ...['referrer-policy', 'no-referrer', 'cache-control', 'no-store', 'cross-origin-resource-policy', 'same-origin'],
]

/** How many users the page lists, the newest ones but those of other tests. Any address can be typed. */
export const MOST_ACCOUNTS = 20

/** `hint` is the address that the app suggests. */
export function accountPage(flow: ProviderFlow, users: readonly UserRow[], hint: string): Reply {
  const provider = titleOfProvider(flow.provider)
  const title = flow.linking_user_id === null ? `Sign in with ${provider}` : `Link your ${provider} account`
  const main = `<h1>${title}</h1>
<p>This is Standin in place of ${provider}. It asks for no password, and returns to ${escaped(placeOf(flow.redirect_to))}.</p>
<h2><label for="email">Another account</label></h2>
${form(
  flow,
  `<input type="email" id="email" name="code" required maxlength="255" autocomplete="off" placeholder="name@example.com" value="${escaped(hint)}">
<label class="check"><input type="checkbox" name="unverified" value="true"> ${provider} has not verified this address</label>
<button class="main">Continue</button>`,
)}
${accountList(accountsOf(users, flow.provider), flow)}
<h2>Or test what goes wrong</h2>
<div class="other">
${form(
  flow,
  `<input type="hidden" name="error_description" value="The user has denied your application access.">
<button name="error" value="access_denied">Deny access</button>`,
)}
${form(flow, `<button name="code" value="fails">Let ${provider} fail</button>`)}
</div>`
  return { kind: 'reply', status: 200, contentType: 'text/html; charset=utf-8', headers, body: page(title, main) }
}

const page = (title: string, main: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Standin</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`

/** The state is in each form: no other page can know it, and it works once. Relative, because of prefixes that only the browser knows. */
const form = ({ id }: ProviderFlow, content: string) => `<form action="../callback">
<input type="hidden" name="state" value="${id}">
${content}
</form>`

interface ListedAccount {
  readonly name: string
  readonly email: string
}

/** The accounts of users at the provider; for those who have linked none, the one with their own address. */
function accountsOf(users: readonly UserRow[], provider: ProviderName): readonly ListedAccount[] {
  const accounts = users.flatMap(({ email, identities, user_metadata }) => {
    const address = identities.find(identity => identity.provider === provider)?.email ?? email
    return address === null ? [] : [{ email: address, name: nameOf(user_metadata) ?? nameIn(address) }]
  })
  const byEmail = new Map(accounts.toReversed().map(account => [account.email, account]))
  return [...byEmail.values()].toReversed()
}

function accountList(accounts: readonly ListedAccount[], flow: ProviderFlow): string {
  if (accounts.length === 0) return ''
  const items = accounts.map(
    ({ name, email }) =>
      `<li><button name="code" value="${escaped(email)}">${escaped(name)}<span>${escaped(email)}</span></button></li>`,
  )
  return `<h2>Or choose an account</h2>\n${form(flow, `<ul>\n${items.join('\n')}\n</ul>`)}`
}

/** The part of an address that people recognize. */
const placeOf = (address: string) => new URL(address).host || address

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string) => text.replace(/[&<>"']/g, character => entities[character] ?? '')
