import { createServerClient } from '@supabase/ssr'
import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'

test('a server that renders pages keeps the session of @supabase/ssr in cookies', async () => {
  const { authUrl, anonKey } = await platformWith()
  const cookies = new Map<string, string>()
  const clientOfRequest = () =>
    createServerClient(authUrl, anonKey, {
      cookies: {
        getAll: () => [...cookies].map(([name, value]) => ({ name, value })),
        setAll: changed => {
          for (const { name, value } of changed) cookies.set(name, value)
        },
      },
    })

  await clientOfRequest().auth.signInWithPassword({ email: 'developer@example.com', password: 'developer' })
  const { data } = await clientOfRequest().auth.getUser()
  expect(data.user?.email).toBe('developer@example.com')
  expect([...cookies.keys()]).toEqual(['sb-127-auth-token'])
})
