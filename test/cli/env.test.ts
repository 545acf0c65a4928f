// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what .env files have
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { loadEnv } from 'vite'
import { expect, test } from 'vitest'
import { developmentApiKey, developmentPublishableKey } from '../../src/core/secrets.js'
import { type Files, folderWith, run, writeInto } from '../command.js'
import { runHere } from '../run-here.js'

const URL_OF_STANDIN = 'http://127.0.0.1:4100'

/** A project, and what `standin env` says and does there. */
function projectWith(files: Files, env: Readonly<Record<string, string>> = {}) {
  const dir = folderWith(files)
  const standin = (...args: readonly string[]) =>
    runHere(['env', ...args], { dir, env: { PATH: process.env.PATH, ...env }, input: undefined })
  return {
    dir,
    standin,
    read: (name: string) => readFileSync(path.join(dir, name), 'utf8'),
    /** What an app of Vite reads while it is developed: this is dotenv with its extensions, as for Next, Expo and Nuxt. */
    loaded: () => loadEnv('development', dir, ''),
  }
}

test('env prints what an app needs, for the shell and as JSON', async () => {
  const files = { 'platform.config.yaml': 'port: 4321\n' }
  const { stdout } = await run(['env'], { files })
  expect(stdout).toMatch(
    /^PLATFORM_BASE_URL=http:\/\/127\.0\.0\.1:4321\nOPENAI_BASE_URL=http:\/\/127\.0\.0\.1:4321\/v1\n/,
  )
  const json = JSON.parse((await run(['env', '--json', '--port', '5000'], { files })).stdout)
  expect(json).toMatchObject({ OPENAI_BASE_URL: 'http://127.0.0.1:5000/v1', SUPABASE_URL: 'http://127.0.0.1:5000' })
  expect(Object.keys(json)).toEqual(stdout.match(/^\w+/gm))
})

// As public examples have them.
test.each([
  [
    'Next with Supabase',
    '.env.local',
    '# Update these with your Supabase details\nNEXT_PUBLIC_SUPABASE_URL=https://abc.supabase.co\nNEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY=sb_publishable_live\n',
  ],
  [
    'Next with Supabase and OpenAI',
    '.env',
    'NEXT_PUBLIC_SUPABASE_URL=http://localhost:54321\nNEXT_PUBLIC_SUPABASE_ANON_KEY=\nSUPABASE_SERVICE_ROLE_KEY=\n\nOPENAI_KEY=sk-live # mine\n',
  ],
  ['Vite', '.env.development', 'VITE_SUPABASE_URL=https://abc.supabase.co\nVITE_SUPABASE_ANON_KEY=live'],
  ['Expo', '.env', '\r\nEXPO_PUBLIC_SUPABASE_URL=https://abc.supabase.co\r\nEXPO_PUBLIC_SUPABASE_ANON_KEY=live\r\n'],
  ['Nuxt', '.env', 'SUPABASE_URL="https://abc.supabase.co"\nSUPABASE_KEY="<your key>"\n'],
  ['SvelteKit', '.env', "export PUBLIC_SUPABASE_URL='https://abc.supabase.co'\nPUBLIC_SUPABASE_ANON_KEY: live\n"],
  ['Vue CLI', '.env', 'VUE_APP_SUPABASE_KEY=YOUR_KEY\nVUE_APP_SUPABASE_URL=https://${REF}.supabase.co\nREF=abc\n'],
  ['a server in Python', '.env', 'OPENAI_API_BASE = "https://api.openai.com/v1"\nOPENAI_API_KEY = sk-live#1\n'],
])(
  'after env --write, an app of %s finds Standin under its own names, and nothing is said to be elsewhere',
  async (_kind, name, text) => {
    const { standin, loaded } = projectWith({ [name]: text })
    const { stderr } = await standin('--write', name)
    expect(stderr).toBe('')
    const values = loaded()
    const ofProject = text.match(/\w*(?:SUPABASE|OPENAI)_\w+(?= ?[=:])/g) ?? []
    expect(ofProject.length).toBeGreaterThan(1)
    for (const variable of ofProject) {
      const expected = /_(URL|BASE)$/.test(variable)
        ? new RegExp(`^${URL_OF_STANDIN}(/v1)?$`)
        : new RegExp(`^(${developmentApiKey}|${developmentPublishableKey}|eyJ[\\w.-]+)$`)
      expect(values[variable], variable).toMatch(expected)
    }
  },
)

test('env --write merges into the file: other lines stay, and an earlier value becomes a comment', async () => {
  const { standin, read, dir } = projectWith({ '.env': '# my app\nOPENAI_API_KEY=sk-live-1\nDEBUG=1' })
  expect((await standin('--write', '.env')).stdout).toBe(
    '.env: added 7 variables, set OPENAI_API_KEY (the earlier lines are comments now)\n',
  )
  const text = read('.env')
  expect(text).toMatch(
    /^# my app\n# OPENAI_API_KEY=sk-live-1\nOPENAI_API_KEY=sk-local-\w+\nDEBUG=1\nPLATFORM_BASE_URL=/,
  )
  expect((await standin('--write', '.env')).stdout).toBe('.env has all of them, and was left as it is.\n')
  expect(read('.env')).toBe(text)
  // With the byte order mark that some editors of Windows write.
  writeInto(dir, { '.env': '\ufeffDEBUG=1\n' })
  await standin('--write', '.env')
  expect(read('.env')).toMatch(/^\ufeffDEBUG=1\nPLATFORM_BASE_URL=/)
})

test('what a file other than the written one still says is listed, and how to change it', async () => {
  const { standin } = projectWith({
    '.env': '',
    '.env.local': 'VITE_SUPABASE_URL=https://abc.supabase.co\nVITE_SUPABASE_ANON_KEY=live\n',
    'apps/web/.env': 'NEXT_PUBLIC_SUPABASE_URL=https://abc.supabase.co\n',
    // These are about something else.
    '.env.production': 'VITE_SUPABASE_URL=https://production.supabase.co\n',
    '.env.example': 'EXPO_PUBLIC_SUPABASE_URL=https://your-project.supabase.co\n',
    'node_modules/other/.env': 'SUPABASE_URL=https://other.supabase.co\n',
  })
  const { stdout, stderr } = await standin('--write', '.env')
  // Of examples, the names count.
  expect(stdout).toBe('.env: added 12 variables\n')
  expect(stderr.split('\n')).toEqual([
    'Still at https://abc.supabase.co: VITE_SUPABASE_URL (.env.local), NEXT_PUBLIC_SUPABASE_URL (apps/web/.env)',
    'Still with other values: VITE_SUPABASE_ANON_KEY (.env.local)',
    '→ To set those in .env.local: standin env --write .env.local',
    '',
  ])
  // Set in a shell, they replace what files say.
  expect(await standin()).toMatchObject({ stdout: expect.stringContaining('\nVITE_SUPABASE_URL='), stderr: '' })
})

test('an address under a name that nobody knows is listed, without its password, until the configuration says what it is', async () => {
  const { standin, dir } = projectWith(
    {
      '.env': [
        'SUPABASE_URL=https://db.example.com',
        'MY_URL=https://db.example.com/functions/v1',
        'DATABASE_URL=postgresql://postgres:hush@db.abc.supabase.co:5432/postgres',
        'SUPABASE_AUTH_SITE_URL=http://localhost:3000',
        'SITE_URL=https://example.com',
      ].join('\n'),
    },
    { OPENAI_PROXY_URL: 'https://gateway.example/v1' },
  )
  const { stderr } = await standin('--write', '.env')
  expect(stderr).not.toContain('hush')
  expect(stderr.split('\n')).toEqual([
    'Still at https://gateway.example: OPENAI_PROXY_URL (the environment)',
    'Still at https://db.example.com: MY_URL (.env)',
    'Still at db.abc.supabase.co: DATABASE_URL (.env)',
    '→ Standin does not know OPENAI_PROXY_URL. In the configuration, env: { OPENAI_PROXY_URL: openaiBaseUrl } sets it, env: { OPENAI_PROXY_URL: unchanged } says that it is right.',
    '',
  ])
  const own =
    '{ OPENAI_PROXY_URL: openaiBaseUrl, MY_URL: supabaseUrl, DATABASE_URL: unchanged, PLATFORM_BASE_URL: unchanged }'
  writeInto(dir, { 'platform.config.yaml': `env: ${own}\n`, '.env': 'DATABASE_URL=db.abc.supabase.co\n' })
  const { stdout, stderr: said } = await standin('--json')
  expect(said).toBe('')
  const variables = JSON.parse(stdout)
  expect(variables).toMatchObject({ OPENAI_PROXY_URL: `${URL_OF_STANDIN}/v1`, MY_URL: URL_OF_STANDIN })
  expect(variables).not.toHaveProperty('DATABASE_URL')
  expect(variables).not.toHaveProperty('PLATFORM_BASE_URL')
})

test('the names of one’s own in the documentation are valid', async () => {
  const [, documented = ''] = /```yaml\n(env:\n.*?)```/s.exec(readFileSync('docs/getting-started.md', 'utf8')) ?? []
  const { stdout } = await run(['env', '--json'], { files: { 'platform.config.yaml': documented } })
  expect(JSON.parse(stdout)).toMatchObject({ EDGE_URL: URL_OF_STANDIN })
})

test('a service key goes into no public name, and into SUPABASE_KEY only where one was', async () => {
  const serviceKey = `e30.${Buffer.from('{"role":"service_role"}').toString('base64url')}.c2ln`
  const text = `VITE_SUPABASE_SERVICE_ROLE_KEY=${serviceKey}\nVITE_SUPABASE_KEY=${serviceKey}\nSUPABASE_KEY=${serviceKey}\n`
  const { standin, loaded } = projectWith({ '.env': text })
  const { stderr } = await standin('--write', '.env')
  expect(stderr).toBe(
    'No service key is put into a public name, which pages contain: VITE_SUPABASE_SERVICE_ROLE_KEY (.env)\n',
  )
  const values = loaded()
  expect(values.SUPABASE_KEY).toBe(values.SUPABASE_SERVICE_ROLE_KEY)
  expect(values.VITE_SUPABASE_KEY).toBe(values.SUPABASE_ANON_KEY)
  expect(values.VITE_SUPABASE_SERVICE_ROLE_KEY).toBe(serviceKey)
  const files = { 'platform.config.yaml': 'env: { VITE_ADMIN: supabaseSecretKey }\n' }
  expect(await run(['env'], { files })).toMatchObject({
    code: 2,
    stderr:
      'platform.config.yaml:1:1: env has a public name for a service or secret key, which pages would then contain.\n',
  })
})

test('a file that is no UTF-8 text is named, not passed over', async () => {
  const { standin, dir } = projectWith({ '.env.local': Buffer.from('A=1', 'utf16le').toString('latin1') })
  const { stderr } = await standin('--write', '.env')
  expect(stderr).toBe('.env.local: is not UTF-8 text. Save it as UTF-8.\n')
  expect(readFileSync(path.join(dir, '.env'), 'utf8')).toContain('SUPABASE_URL=')
})

test('env refuses what it cannot know: a free port, and the keys of a start of its own', async () => {
  expect(await run(['env', '--port', '0'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The configured port is 0'),
  })
  const files = {
    'platform.config.yaml':
      'host: 0.0.0.0\nmode: proxy\nupstream: { baseUrl: "https://live.test", apiKey: sk-live-1 }\n',
  }
  expect(await run(['env'], { files })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('each start makes keys of its own'),
  })
})
