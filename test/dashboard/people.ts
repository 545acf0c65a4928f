/** Users for dashboard tests: created through the auth backend, signed in on the page. */
import type { Page } from 'playwright-core'
import type { Scene } from '../scene.js'

export const ada = { email: 'ada@example.com', password: 'correct horse battery' }

interface Session {
  readonly access_token: string
  readonly user: { readonly id: string }
}

/** Sends a request to the auth backend, as an app does. */
export const askAuth = ({ url, anonKey }: Scene, path: string, body: object) =>
  fetch(`${url}/auth/v1${path}`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Creates an account and returns a token of its user. */
export async function signedUp(platform: Scene, person: object = ada): Promise<string> {
  const response = await askAuth(platform, '/signup', person)
  return ((await response.json()) as Session).access_token
}

/** Creates an account and opens Connect with its session, as after a sign-in. */
export async function openSignedIn(page: Page, platform: Scene, person = ada): Promise<void> {
  const session = await (await askAuth(platform, '/signup', person)).json()
  // Any page of the same origin.
  await page.goto(`${platform.url}/health`)
  await page.evaluate(`localStorage.setItem('standin-dashboard', ${JSON.stringify(JSON.stringify(session))})`)
  await page.goto(`${platform.dashboardUrl}/connect`)
  await page.getByText(`Signed in as ${person.email}.`).waitFor()
}

/** Fills in the form for another account than the development user's. */
export async function enterAccount(page: Page, { email, password } = ada): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
}

/** Creates a key with one click, and returns the secret. */
export async function createKeyOn(page: Page): Promise<string> {
  await page.getByRole('button', { name: /^Create key/ }).click()
  return page
    .locator('.secret')
    .getByText(/^sk-local-\w{38}$/)
    .innerText()
}
