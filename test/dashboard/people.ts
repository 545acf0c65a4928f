/** Users for dashboard tests: created through the auth backend, signed in on the page. */
import type { Page } from 'playwright-core'
import type { Scene } from '../scene.js'

export const ada = { email: 'ada@example.com', password: 'correct horse battery' }

interface Session {
  readonly access_token: string
  readonly user: { readonly id: string }
}

async function post({ url, anonKey }: Scene, path: string, body: object): Promise<Session> {
  const headers = { apikey: anonKey, 'content-type': 'application/json' }
  const response = await fetch(`${url}/auth/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await response.json()) as Session
}

/** Creates an account and returns a token of its user. */
export const signedUp = async (platform: Scene, person: object = ada) =>
  (await post(platform, '/signup', person)).access_token

/** Ends every session of a user, as from another browser. */
export async function signedOutEverywhere(platform: Scene, person = ada): Promise<void> {
  const { access_token } = await post(platform, '/token?grant_type=password', person)
  const headers = { apikey: platform.anonKey, authorization: `Bearer ${access_token}` }
  await fetch(`${platform.url}/auth/v1/logout?scope=global`, { method: 'POST', headers })
}

/** Creates an account with the form. */
export async function signUpOn(page: Page, { dashboardUrl }: Scene, { email, password } = ada): Promise<void> {
  await page.goto(`${dashboardUrl}/sign-up`)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
}

/** Creates an account and opens the page with its session, as after a sign-in. */
export async function openSignedIn(page: Page, platform: Scene, person = ada): Promise<void> {
  const session = await post(platform, '/signup', person)
  // Any page of the same origin.
  await page.goto(`${platform.url}/health`)
  await page.evaluate(`localStorage.setItem('standin-dashboard', ${JSON.stringify(JSON.stringify(session))})`)
  await page.goto(`${platform.dashboardUrl}/keys`)
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
}

/** Fills in the sign-in form that is already open. */
export async function signInOn(page: Page, { email, password } = ada): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Creates a key in the dialog, with one of its lifetimes if that is given, and returns the secret. */
export async function createKeyOn(page: Page, name: string, duration?: string): Promise<string> {
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill(name)
  if (duration !== undefined) {
    await dialog.getByLabel('Expires').selectOption(`In ${duration}`)
    await dialog.getByText(`It works for ${duration}, by Standin’s clock.`).waitFor()
  }
  await dialog.getByRole('button', { name: 'Create key' }).click()
  return takeSecret(page)
}

/** Reads the secret, which is shown only once, and closes the dialog. */
export async function takeSecret(page: Page): Promise<string> {
  const secret = await page
    .getByRole('dialog')
    .getByText(/^sk-local-\w{38}$/)
    .innerText()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  return secret
}
