/** What Supabase prepares in a database: roles, schemas, the users of its auth server, functions about the caller, and grants. */

/** The roles of Supabase, and what sets each apart. */
const roles: Readonly<Record<string, string>> = {
  anon: 'nologin noinherit',
  authenticated: 'nologin noinherit',
  service_role: 'nologin noinherit bypassrls',
  authenticator: 'nologin noinherit',
  supabase_auth_admin: 'nologin noinherit createrole',
  supabase_admin: 'nologin bypassrls',
  supabase_storage_admin: 'nologin noinherit',
  supabase_functions_admin: 'nologin noinherit',
  supabase_realtime_admin: 'nologin noinherit',
  dashboard_user: 'nologin',
  postgres: 'nologin',
}

const createRoles = Object.entries(roles).map(
  ([role, options]) => `do $$ begin create role ${role} ${options}; exception when duplicate_object then null; end $$`,
)

const claims = "nullif(current_setting('request.jwt.claims', true), '')::jsonb"
const claim = (name: string) =>
  `coalesce(nullif(current_setting('request.jwt.claim.${name}', true), ''), ${claims} ->> '${name}')`

const everyone = 'anon, authenticated, service_role'

/** The schema of the auth server, with the columns that triggers and functions of apps know. */
const authTables = [
  `create table auth.users (
    instance_id uuid, id uuid not null primary key, aud varchar(255), role varchar(255), email varchar(255),
    encrypted_password varchar(255), email_confirmed_at timestamptz, invited_at timestamptz, confirmation_token varchar(255),
    confirmation_sent_at timestamptz, recovery_token varchar(255), recovery_sent_at timestamptz, email_change_token_new varchar(255),
    email_change varchar(255), email_change_sent_at timestamptz, last_sign_in_at timestamptz, raw_app_meta_data jsonb,
    raw_user_meta_data jsonb, is_super_admin bool, created_at timestamptz, updated_at timestamptz, phone text unique,
    phone_confirmed_at timestamptz, phone_change text default '', phone_change_token varchar(255) default '',
    phone_change_sent_at timestamptz, confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
    email_change_token_current varchar(255) default '', email_change_confirm_status smallint default 0, banned_until timestamptz,
    reauthentication_token varchar(255) default '', reauthentication_sent_at timestamptz, is_sso_user bool not null default false,
    deleted_at timestamptz, is_anonymous bool not null default false)`,
  'create unique index users_email_partial_key on auth.users (email) where (is_sso_user = false)',
  `create table auth.identities (
    provider_id text not null, user_id uuid not null references auth.users (id) on delete cascade, identity_data jsonb not null,
    provider text not null, last_sign_in_at timestamptz, created_at timestamptz, updated_at timestamptz,
    email text generated always as (lower(identity_data ->> 'email')) stored, id uuid not null default gen_random_uuid() primary key,
    unique (provider_id, provider))`,
]

const authFunctions = [
  `create function auth.uid() returns uuid language sql stable as $$ select (${claim('sub')})::uuid $$`,
  `create function auth.role() returns text language sql stable as $$ select ${claim('role')} $$`,
  `create function auth.email() returns text language sql stable as $$ select ${claim('email')} $$`,
  `create function auth.jwt() returns jsonb language sql stable as $$
    select coalesce(nullif(current_setting('request.jwt.claim', true), '')::jsonb, ${claims}) $$`,
]

const grants = [
  `grant usage on schema public, auth, extensions to ${everyone}, postgres`,
  `grant execute on all functions in schema auth to ${everyone}, postgres`,
  'grant all on schema auth to supabase_auth_admin',
  'grant all on all tables in schema auth to supabase_auth_admin',
  'grant all on schema public, auth, extensions to postgres',
  'grant select, references, trigger on all tables in schema auth to postgres',
  `grant all on all tables in schema public to ${everyone}, postgres`,
  `grant all on all routines in schema public to ${everyone}, postgres`,
  `grant all on all sequences in schema public to ${everyone}, postgres`,
  ...['tables', 'routines', 'sequences'].map(
    kind => `alter default privileges in schema public grant all on ${kind} to ${everyone}, postgres`,
  ),
]

/** The statements that make an empty database one of Supabase. */
export const supabaseStatements: readonly string[] = [
  ...createRoles,
  'grant anon, authenticated, service_role, supabase_auth_admin to current_user',
  'grant anon, authenticated, service_role to authenticator',
  'create schema auth',
  'create schema if not exists extensions',
  'create schema supabase_migrations',
  'create table supabase_migrations.schema_migrations (version text primary key, statements text[], name text)',
  ...authTables,
  ...authFunctions,
  ...grants,
  'create publication supabase_realtime',
]

/** Services of Supabase that are not here. Statements that fail for want of one are skipped. */
export const missingServices =
  /"?\b(storage|realtime|_realtime|cron|net|vault|pgsodium|graphql|graphql_public|supabase_functions|pgmq|pgmq_public|pg_net|pg_cron|pg_graphql|supabase_vault|wrappers|dblink|http|pgtap|pgroonga|timescaledb|hypopg|index_advisor|pg_jsonschema|pg_hashids|plv8|rum|plpgsql_check|pgaudit|pg_partman|pgrouting|pgjwt|postgis|st_\w+|geometry|geography|vector|halfvec|sparsevec)\b"?/
