/** The page of an app for notes, whose user signs in with a code: without bugs, or with six of seven. */
import { createBrowserClient } from '@supabase/ssr'

const { url, anonKey, isWrong } = globalThis.settings
const { auth } = createBrowserClient(url, anonKey)
const email = 'developer@example.com'

const pause = ms => new Promise(resolve => setTimeout(resolve, ms))
const limited = work => Promise.race([work, pause(2500).then(() => ({ error: new Error('late') }))])

async function signIn() {
  await auth.signInWithOtp({ email })
  // Bug 1: the code is tried again and again.
  for (let tries = isWrong ? 30 : 1; tries > 0; tries--) {
    const { data } = await auth.verifyOtp({ email, token: '123456', type: 'email' })
    if (data.session) return data.session
  }
}

/** A refresh that fails for a moment leaves the session as it is. */
const refresh = () => limited(auth.refreshSession())

async function refreshBadly({ refresh_token }) {
  const send = () =>
    fetch(`${url}/auth/v1/token?grant_type=refresh_token`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token }),
    })
  try {
    let response = await send()
    // Bug 2: no pause before the next tries, as many at once as a browser sends.
    for (let rounds = 0; response.status === 503 && rounds < 25; rounds++)
      [response] = await Promise.all(Array.from({ length: 6 }, send))
    if (response.ok) return (await auth.setSession(await response.json())).data.session
    // Bug 3: a 429 ends the session.
    if (response.status !== 503) await auth.signOut()
  } catch {
    // Bug 4: so does an answer that is lost.
    await auth.signOut()
  }
}

/** Once more with a new token, if the old one is refused. */
async function call(send) {
  const sent = async () => send((await auth.getSession()).data.session?.access_token)
  const response = await sent()
  if (response.status !== 401) return response
  const { error } = await refresh()
  if (!error) return sent()
  await auth.signOut({ scope: 'local' })
  throw new Error('signed out')
}

/** Bug 5: the token is the one of the beginning, whatever came of it. */
const callBadly = token => async send => {
  const response = await send(token)
  if (response.status === 401) await auth.refreshSession()
  return response
}

const notes = (method, body) => token =>
  fetch(`${url}/notes`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

async function use() {
  const session = await signIn()
  if (!session) return 'The code has expired.'
  const newer = await (isWrong ? refreshBadly(session) : refresh())
  const asking = isWrong ? callBadly((newer ?? session).access_token) : call
  // Bug 6: nobody looks at what came of it.
  await asking(notes('POST', { text: 'Buy tea.' }))
  for (let looks = 0; looks < 4; looks++) {
    await asking(notes('GET'))
    await pause(isWrong ? 550 : 50)
  }
  const profile = await asking(() => fetch('/profile'))
  return profile.ok ? 'done' : 'signed out'
}

use().then(
  end => {
    document.title = end
  },
  error => {
    document.title = String(error.message)
  },
)
