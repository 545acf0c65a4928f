/** Small apps as Supabase's users write them: their migrations and seeds, in a folder where prepared clusters stay from run to run. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createClient } from '@supabase/supabase-js'
import { onTestFinished } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { type Files, folderWith, type Until } from '../command.js'

export type { Files } from '../command.js'

import { platformWith, type Scene } from '../scene.js'

/** A list of chats for each user, with a profile that a trigger adds. */
export const chats: Files = {
  'migrations/20240101000000_profiles.sql': `
create table public.profiles (
  id uuid primary key references auth.users (id) on delete cascade,
  email text,
  full_name text not null
);
alter table public.profiles enable row level security;
create policy "everyone reads profiles" on public.profiles for select using (true);

create function public.handle_new_user() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into public.profiles (id, email, full_name)
  values (new.id, new.email, coalesce(new.raw_user_meta_data ->> 'full_name', 'nobody; in particular'));
  return new;
end;
$$;
create trigger on_auth_user_created after insert on auth.users for each row execute procedure public.handle_new_user();
`,
  'migrations/20240102000000_chats.sql': `
create table public.chats (
  id bigint generated always as identity primary key,
  user_id uuid not null default auth.uid() references public.profiles (id) on delete cascade,
  title text not null,
  payload jsonb not null default '{}',
  created_at timestamptz not null default now()
);
create table public.messages (
  id bigint generated always as identity primary key,
  chat_id bigint not null references public.chats (id) on delete cascade,
  role text not null check (role in ('user', 'assistant')),
  content text not null
);
create table public.models (id text primary key, context int not null);
alter table public.chats enable row level security;
alter table public.messages enable row level security;
create policy own_chats on public.chats for all to authenticated
  using ((select auth.uid()) = user_id) with check ((select auth.uid()) = user_id);
create policy own_messages on public.messages for all to authenticated
  using (exists (select 1 from public.chats where chats.id = chat_id and user_id = auth.uid()));
create function public.count_chats() returns bigint language sql stable as 'select count(*) from public.chats';
create function public.search(term text, most int default 10) returns setof public.chats language sql stable
  as $$ select * from public.chats where title ilike '%' || term || '%' limit most $$;
`,
  'seed.sql': "insert into public.models (id, context) values ('small', 8000), ('large', 128000);",
}

/** Documents that are shared with people and have tags. */
export const documents: Files = {
  'migrations/1_documents.sql': `
create extension if not exists "uuid-ossp" with schema extensions;
create type public.visibility as enum ('private', 'public');
create table public.people (id uuid primary key default extensions.uuid_generate_v4(), name text not null unique, manager uuid references public.people);
create table public.documents (
  id int primary key, title text not null, body jsonb, tags text[] not null default '{}', kind visibility not null default 'private',
  author uuid references public.people (id), reviewer uuid references public.people (id), pages int4range, search tsvector
);
create table public.labels (id int primary key, name text not null);
create table public.document_labels (document_id int references public.documents, label_id int references public.labels, primary key (document_id, label_id));
create view public.public_documents as select id, title, author from public.documents where kind = 'public';
create function public.word_count(public.documents) returns int language sql stable as $$ select array_length(string_to_array($1.title, ' '), 1) $$;
create function public.latest() returns table (title text, n int) language sql stable as $$ select title, id from public.documents order by id desc limit 2 $$;
create function public.nothing() returns void language sql as '';
create function public.refuse() returns int language plpgsql as $$ begin raise exception 'Not now' using errcode = 'PT402', hint = 'Pay'; end $$;
alter role authenticator set pgrst.db_aggregates_enabled = 'true';
`,
  'seed.sql': `
insert into public.people (id, name, manager) values
  ('00000000-0000-0000-0000-00000000000a', 'Ada', null), ('00000000-0000-0000-0000-00000000000b', 'Bob', '00000000-0000-0000-0000-00000000000a');
insert into public.documents (id, title, body, tags, kind, author, reviewer, pages, search) values
  (1, 'A plan', '{"a": {"b": [1, "two"]}}', '{x,y}', 'public', '00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-00000000000b', '[1,5)', 'plan'),
  (2, 'The long report', '{"a": null}', '{y}', 'private', '00000000-0000-0000-0000-00000000000b', null, '[5,9)', 'report'),
  (3, 'Notes', null, '{}', 'private', null, null, null, 'note');
insert into public.labels values (1, 'red'), (2, 'green');
insert into public.document_labels values (1, 1), (1, 2), (2, 2);
`,
}

const folder = path.join(import.meta.dirname, '../../node_modules/.cache/standin/tables')

/** Writes an app's files, and returns the options for a platform with its tables. Another name for each set of files. */
export function tablesOf(name: string, files: Files) {
  const put = (file: string, text: string) => {
    const at = path.join(folder, file)
    mkdirSync(path.dirname(at), { recursive: true })
    if (!existsSync(at) || readFileSync(at, 'utf8') !== text) writeFileSync(at, text)
  }
  put('platform.config.yaml', 'state: memory\n')
  for (const [file, text] of Object.entries(files)) put(`${name}/${file}`, text)
  const seed = 'seed.sql' in files ? `${name}/seed.sql` : ''
  return {
    config: path.join(folder, 'platform.config.yaml'),
    tables: { migrations: `${name}/migrations`, seed },
  } satisfies PlatformOptions
}

/** A folder of a project with these files in `supabase/`, which shares the prepared clusters. */
export function projectWith(files: Files, until: Until = onTestFinished): string {
  const inFolder = Object.entries(files).map(([name, text]) => [`supabase/${name}`, text])
  const dir = folderWith(Object.fromEntries(inFolder), until)
  mkdirSync(path.join(folder, '.standin'), { recursive: true })
  symlinkSync(path.join(folder, '.standin'), path.join(dir, '.standin'))
  return dir
}

/** Starts a platform with an app's tables. */
export function platformOf(name: string, files: Files, options: PlatformOptions = {}, until: Until = onTestFinished) {
  const of = tablesOf(name, files)
  return platformWith({ ...of, ...options, tables: { ...of.tables, ...options.tables } }, until)
}

const browserless = { auth: { persistSession: false, autoRefreshToken: false } }

export const anonClient = ({ url, anonKey }: Scene) => createClient(url, anonKey, browserless)
export const serviceClient = ({ url, serviceKey }: Scene) => createClient(url, serviceKey, browserless)

/** A client of a user who has just signed up. */
export async function signedUp(platform: Scene, email: string, data: object = {}) {
  const client = anonClient(platform)
  const {
    error,
    data: { user },
  } = await client.auth.signUp({ email, password: 'correct horse', options: { data } })
  if (error || !user) throw error
  return { client, user }
}
