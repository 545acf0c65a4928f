/** The options of the live platform, and of calls from web pages of other origins. */
import * as v from 'valibot'
import { oneOfWords } from '../check/check.js'
import { anAddress, credential, group, httpUrl, integer, list, option, secret, text, word } from '../check/forms.js'

/** Apps and browser extensions have origins that `URL` does not support, such as `chrome-extension://…`. */
const isAppOrigin = (written: string) => /^(?!(https?|wss?|ftp|file):)[a-z][a-z\d+.-]*:\/\/[^\s/?#@,]+$/.test(written)
const isOrigin = (written: string) =>
  written === '*' || isAppOrigin(written) || (URL.canParse(written) && new URL(written).origin === written)
const origin = v.pipe(
  text,
  v.check(isOrigin, 'an origin such as http://localhost:3000, in lower case and without a trailing slash'),
)

export const corsOptions = group(
  {
    origins: option(
      v.union([word(['auto', '*']), list(origin, 'origins')], 'auto, "*" or a list of origins'),
      'auto',
      'Which web pages may call: auto (any page; only pages of this machine where requests reach the live platform or manage users), a list such as [https://app.example.com], or "*" (any page).',
    ),
  },
  'Calls from web pages of other origins.',
)

const errorForms = ['documented', 'untouched'] as const

/** The base URL of OpenAI's clients ends in /v1, but the paths that are appended here begin with it. */
const addedPath = /\/v1(\/(chat\/completions|models))?\/*$/i
const baseAddress = v.pipe(
  httpUrl,
  v.check(
    // Only the path, since a host may be called v1.
    address => !addedPath.test(new URL(address).pathname),
    ({ input }) => `is "${input}", and Standin adds /v1 itself: ${withoutV1(input.replace(addedPath, ''))}`,
  ),
)

/** Below /api/v1 there is either the platform's index or a whole OpenAI-compatible API. */
const withoutV1 = (base: string) =>
  base.endsWith('/api')
    ? `write "${base.slice(0, -'/api'.length)}", or "${base}" if its models are at /api/v1/models.`
    : `write "${base}".`

export const upstreamOptions = group(
  {
    baseUrl: option(
      v.union([v.literal(''), baseAddress], anAddress),
      '',
      'Address of the live platform, without /v1, for the modes proxy and record.',
    ),
    authUrl: option(
      v.union(
        [v.literal(''), v.pipe(httpUrl, v.regex(/^(?!.*\/auth\/v1\/?$)/, 'an address without /auth/v1 at its end'))],
        anAddress,
      ),
      '',
      'Address of the live auth backend without /auth/v1, for auth.mode proxy.',
    ),
    apiKey: option(
      secret(credential),
      '',
      "The live platform's API key, sent in place of the caller's on /v1 and undocumented paths.",
    ),
    anonKey: option(secret(credential), '', "The live platform's anon key, sent on /api/v1 in place of the caller's."),
    credentials: option(
      word(['swap', 'pass']),
      'swap',
      "Whose credentials the live platform sees: swap sends the live ones, pass the caller's own, for the live platform to judge.",
    ),
    errors: option(
      v.picklist(errorForms, ({ input }) =>
        input === 'normalise' ? 'is normalise, which is now called documented.' : oneOfWords(errorForms),
      ),
      'documented',
      'How errors of the live platform are delivered: as the documented { error } (documented), or as they came (untouched).',
    ),
    timeoutMs: option(
      integer(1, 3_600_000),
      60_000,
      'How long the live platform may be silent, before its first byte or within a stream, in milliseconds.',
    ),
  },
  'The live platform.',
)
