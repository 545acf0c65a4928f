import { spawn } from 'node:child_process'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { createClient } from '@supabase/supabase-js'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform, type PlatformSources } from '../../src/platform.js'
import { processName } from '../../src/recordings/process.js'
import { folderWith, type Until, writeInto } from '../command.js'
import { type Files, projectWith } from './apps.js'

/** Opens a platform in a project with these files, and collects its warnings. */
async function opened(dir: string, flags: Record<string, unknown> = {}, until: Until = onTestFinished) {
  const warnings: string[] = []
  const all = { port: 0, state: 'memory', ...flags }
  const platform = await openPlatform({
    cwd: dir,
    flags: Object.entries(all).map(([name, value]) => ({ path: name.split('.'), value, origin: 'test' })),
    warn: sentence => void warnings.push(sentence),
  } satisfies PlatformSources)
  until(() => platform.stop())
  const client = createClient(platform.url, platform.anonKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  })
  return { platform, warnings, client }
}

const notes: Files = {
  'migrations/1_notes.sql': 'create table public.notes (id int primary key, body text);',
  'seed.sql': "insert into public.notes values (1, 'first');",
}

test('the folder supabase/migrations is found by itself, with the schemas of config.toml, and a reload applies a new migration to the rows that are there', async () => {
  const dir = projectWith({
    ...notes,
    'config.toml': '[api]\nport = 54321\nschemas = [\n  "public",\n  "inner",\n]\n[db]\n',
  })
  const { platform, client, warnings } = await opened(dir)
  const codes = ['inner', 'graphql_public'].map(
    async name => (await client.schema(name).from('notes').select()).error?.code,
  )
  expect(await Promise.all(codes)).toEqual(['PGRST205', 'PGRST106'])
  await client.from('notes').insert({ id: 2, body: 'mine' })
  writeInto(dir, { 'supabase/migrations/2_tags.sql': "alter table public.notes add column tag text default 'new';" })
  await platform.reload()
  expect((await client.from('notes').select().order('id')).data).toEqual([
    { id: 1, body: 'first', tag: 'new' },
    { id: 2, body: 'mine', tag: 'new' },
  ])
  writeInto(dir, {
    'supabase/migrations/3_broken.sql': '\n-- a comment;\nselect 1 +\n  nowhere from public.notes;',
  })
  await expect(platform.reload()).rejects.toThrow(
    'supabase/migrations/3_broken.sql:4:3: column "nowhere" does not exist. The statement is: select 1 +',
  )
  expect((await client.from('notes').select()).data).toHaveLength(2)
  rmSync(path.join(dir, 'supabase/migrations/3_broken.sql'))
  writeInto(dir, {
    'supabase/migrations/1_notes.sql': 'create table public.notes (id int primary key, body text, more int);',
  })
  await platform.reload()
  expect(warnings).toContain('The tables start anew, because supabase/migrations/1_notes.sql changed.')
  expect((await client.from('notes').select()).data).toEqual([{ id: 1, body: 'first', more: null, tag: 'new' }])
})

test('tables whose first migration comes with a reload have the rows of their seed again after a reset', async () => {
  const dir = projectWith({})
  const { platform, client } = await opened(dir)
  expect((await client.from('notes').select()).status).toBe(404)
  writeInto(dir, Object.fromEntries(Object.entries(notes).map(([name, text]) => [`supabase/${name}`, text])))
  await platform.reload()
  await client.from('notes').insert({ id: 2, body: 'mine' })
  expect((await client.from('notes').select()).data).toHaveLength(2)
  await platform.reset()
  expect((await client.from('notes').select()).data).toEqual([{ id: 1, body: 'first' }])
})

test.each<readonly [string, Files, string]>([
  [
    'a row that a seed cannot add',
    {
      'migrations/1_a.sql': 'create table a (id int primary key);',
      'seed.sql': 'insert into a values (1);\ninsert into a values (1);',
    },
    'supabase/seed.sql:2:1: duplicate key value violates unique constraint "a_pkey". Key (id)=(1) already exists. The statement is: insert into a values (1)',
  ],
  [
    'two migrations with one number',
    { 'migrations/1_a.sql': 'select 1;', 'migrations/1_b.sql': 'select 1;' },
    'supabase/migrations/1_b.sql: has the number 1, as supabase/migrations/1_a.sql has. Give it another one.',
  ],
])('%s ends the start with its place', async (_name, files, message) => {
  await expect(opened(projectWith(files))).rejects.toThrow(message)
})

test('of two that start at once, one prepares the tables: what needs a service of Supabase that is not here is skipped with a warning, and everything else is applied', async () => {
  const dir = projectWith({
    'migrations/1_all.sql': `-- Prepared anew, at ${new Date().toISOString()}.
create extension if not exists pg_cron;
create extension if not exists vector with schema extensions;
select cron.schedule('nightly', '0 0 * * *', 'select 1');
insert into storage.buckets (id, name) values ('avatars', 'avatars');
alter publication supabase_realtime add table only auth.users;
create table public.closed (id int, note text default ';');
alter table public.closed enable row level security;
create function public.f() returns text language sql begin atomic select case when true then 'a;' else 'b' end; end;
insert into public.closed values (1, $tag$ ; $$ $tag$) /* ; /* ; */ */;
grant all on public.closed to supabase_admin;
create extension postgis;
create table public.shops (id int, place geometry(point, 4326));
alter table public.shops enable row level security;
`,
    'seed.sql': 'insert into public.shops (id) values (1);',
    'migrations/readme.sql': 'not a migration',
  })
  const all = await Promise.all([opened(dir), opened(dir)])
  const isPreparing = (sentence: string) => sentence.startsWith('Preparing the tables')
  expect(all.flatMap(({ warnings }) => warnings.filter(isPreparing))).toHaveLength(1)
  const { warnings, client } = all.find(one => one.warnings.some(isPreparing)) ?? all[0]
  expect(warnings).toEqual([
    'supabase/migrations/readme.sql is no migration: its name does not begin with a number and an underscore.',
    'Preparing the tables from 1 migrations. This takes some seconds, once.',
    expect.stringMatching(/1_all.sql:2 is skipped: .*pg_cron/),
    expect.stringMatching(/1_all.sql:3 is skipped: .*npm install --save-dev @electric-sql\/pglite-pgvector/),
    expect.stringMatching(/1_all.sql:4 is skipped: schema "cron" does not exist/),
    expect.stringMatching(/1_all.sql:5 is skipped: relation "storage.buckets" does not exist/),
    expect.stringMatching(/1_all.sql:12 is skipped: .*npm install --save-dev @electric-sql\/pglite-postgis/),
    expect.stringMatching(/1_all.sql:13 is skipped: type "geometry" does not exist/),
    expect.stringMatching(/1_all.sql:14 is skipped: relation "public.shops" does not exist/),
    expect.stringMatching(/seed.sql:1 is skipped: relation "public.shops" does not exist/),
    'Row level security is on without a policy for closed: only the service role sees rows there.',
  ])
  expect((await client.rpc('f')).data).toBe('a;')
  expect((await client.from('closed').select()).data).toEqual([])
})

test('tables in a folder keep their rows, users of the state included, and are open in one process at a time', async () => {
  const dir = projectWith(notes)
  const kept = { state: 'file:state.db', 'tables.database': 'file:rows' }
  const ends: Parameters<Until>[0][] = []
  const first = await opened(dir, kept, stop => void ends.push(stop))
  await first.client.from('notes').insert({ id: 2, body: 'mine' })
  for (const end of ends) await end()
  const second = await opened(dir, kept)
  expect((await second.client.from('notes').select('id')).data).toEqual([{ id: 1 }, { id: 2 }])
  await second.platform.reset()
  expect((await second.client.from('notes').select('id')).data).toHaveLength(2)
  writeFileSync(path.join(dir, 'rows.pid'), processName(process.ppid))
  await expect(opened(dir, kept)).rejects.toThrow(
    /are open in another process \(\d+\)\. Stop it, or keep the tables in memory/,
  )
})

test('without PGlite, one line says what to install, and /rest/v1 stays a 404', async () => {
  const home = folderWith()
  cpSync(path.join(import.meta.dirname, '../../dist'), path.join(home, 'dist'), { recursive: true })
  const args = [path.join(home, 'dist/cli.js'), 'dev', '--port', '0', '--state', 'memory', '--json']
  const child = spawn(process.execPath, args, { cwd: projectWith(notes), stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', text => {
    said += text
  })
  let ready: { url: string; anonKey: string } | undefined
  for await (const line of createInterface(child.stdout)) {
    ready = JSON.parse(line)
    if (ready?.url) break
  }
  expect(said).toBe(
    "To answer /rest/v1 from supabase/migrations, install PostgreSQL's engine: npm install --save-dev @electric-sql/pglite\n",
  )
  expect((await fetch(`${ready?.url}/rest/v1/notes`)).status).toBe(404)
  const { platform } = await opened(folderWith())
  const refused = await fetch(`${platform.url}/__standin/tables/notes/rows`)
  expect(await refused.text()).toContain('There are no tables here. They need the folder')
})
