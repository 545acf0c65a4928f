/** What changes with every run or machine, by name: folders, dates, times, UUIDs and random ids, as `recordings.ignore` has them. */
import { homedir, tmpdir } from 'node:os'
import { memoized } from '../core/work.js'
import { workingFolder } from './process.js'

/** In the order in which they are applied: a UUID is no time, whatever its digits, and a year may follow a time. */
export const ignoredNames = ['paths', 'uuids', 'dates', 'times', 'ids'] as const
export type IgnoredName = (typeof ignoredNames)[number]

export const isIgnoredName = (written: string): written is IgnoredName =>
  (ignoredNames as readonly string[]).includes(written)

export const TIME = '[time]'

/** No words are spared. */
export const nothingSpared: ReadonlySet<string> = new Set()

/** Returns the text with a word such as `[date]` in place of everything that has this name. `spared` are names of tools and fields, which may look like ids. */
export const withoutNamed: Readonly<Record<IgnoredName, (text: string, spared?: ReadonlySet<string>) => string>> = {
  paths: withoutPaths,
  uuids: text => text.replace(uuid, '[uuid]'),
  dates: withoutDates,
  times: text => text.replace(clockTime, TIME).replace(epoch, TIME),
  ids: (text, spared = nothingSpared) =>
    randomIds.reduce(
      (rest, expression) => rest.replace(expression, found => (spared.has(found) ? found : '[id]')),
      text,
    ),
}

/** Fields whose dates and ids say what is asked, not when: models, versions, and names of tools and schema keys. */
export const isFixedField = (name: string) => /^(?:model|name|required)$|version$/i.test(name)

/** Where people, CI jobs and containers keep projects and temporary files. Own folders are added. */
const folderPrefixes = [
  '/home/[\\w.-]+',
  '/Users/[\\w.-]+',
  '/root',
  '/tmp',
  '/(?:private/)?var/(?:tmp|folders)',
  '/private/tmp',
  '/(?:workspaces?|builds|work|app|usr/src|src|code|repo|project)',
  '/github/(?:workspace|home)',
  '[A-Za-z]:(?:\\\\{1,2}|/)[\\w.~-]+',
]

/** The folders of this process: where it works, the user's home, and the one for temporary files. */
export const ownFolders = (): readonly string[] => {
  const all = new Set([workingFolder(), homedir(), tmpdir()])
  return [...all].filter(folder => folder.length > 1).sort((a, b) => b.length - a.length)
}

const pathExpression = memoized((_cwd: string) => {
  const own = ownFolders().map(folder => folder.replace(/[^\w/]/g, '\\$&'))
  const rest = '(?:(?:\\\\{1,2}|/)[\\w.@+~-]+)*(?:\\\\{1,2}|/)?'
  return new RegExp(`(?<![\\w.~-])(?:file://)?(?:${[...own, ...folderPrefixes].join('|')})(?![\\w-])${rest}`, 'g')
}, 1)

/** Only the name of a file stays of a path into one of these folders, since the folder is another one on each machine. */
function withoutPaths(text: string): string {
  if (!/[\\/]/.test(text)) return text
  return text.replace(pathExpression(workingFolder()), found => {
    const [name] = /(?<=[\\/])[\w@+~-][\w.@+~-]*\.[A-Za-z]\w{0,7}\.?$/.exec(found) ?? []
    return name === undefined ? '[path]' : `[path]/${name}`
  })
}

/** A number that may be a time: in seconds or milliseconds, from 2017 to 2033. */
export const mayBeTime = (value: number) => value >= 1.5e9 && value < 2e12

/** Any version, with dashes or, if its digits say what it is, without. */
const uuid =
  /(?<![\da-f])(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{12}[1-8][\da-f]{3}[89ab][\da-f]{15})(?![\da-f])/gi

/** 2026-11-28, 2026/11/28. A word before it makes it the name of something, as in gpt-4o-2024-08-06. */
const yearFirst =
  /(?<!\w|\w[-.]|\d\/)(?:19|20)\d\d(?:-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])|\/(?:0?[1-9]|1[0-2])\/(?:0?[1-9]|[12]\d|3[01]))(?!\d|-[a-z\d])/g
/** 28/11/2026, 11/28/2026, 28.11.2026, 28-11-2026, and 11/28/26. */
const yearLast = /(?<![\w/.-])(?:\d{1,2}([/.-])\d{1,2}\1(?:19|20)\d\d|\d\d\/\d\d\/\d\d)(?![\w/]|[.-]\w)/g
/** 28 November 2026, Nov 28th, 2026, November 2026. The name of a month alone is no date. */
const monthInWords =
  /\b(?:(?<before>(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?: of)?)[ -])?(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)(?!\w)\.?(?<after> {1,2}(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?!\w|:\d|%|\.\d))?(?<year>,?[ -](?:19|20)\d\d(?!\w))?/g
const weekdayBefore =
  /\b(?:Mon|Tue|Tues|Wed|Wednes|Thu|Thur|Thurs|Fri|Sat|Satur|Sun)(?:day)?\b[.,]{0,2} ?(?:the )?(?=\[date\])/g
const weekdayAfter = /(?<=\[date\]),? ?\(?\b(?:Mon|Tue|Tues|Wed|Wednes|Thu|Thur|Thurs|Fri|Sat|Satur|Sun)(?:day)?\b\)?/g
/** As `date` prints it: Sat Nov 28 14:05:33 UTC 2026. */
const yearAfterTime = /(?<=\[date\] \d\d:\d\d:\d\d(?: [A-Z]{3,4})?) (?:19|20)\d\d\b/g

function withoutDates(text: string): string {
  return text
    .replace(yearFirst, '[date]')
    .replace(yearLast, '[date]')
    .replace(monthInWords, (found, before, after, year) => ((before ?? after ?? year) ? '[date]' : found))
    .replace(weekdayBefore, '')
    .replace(weekdayAfter, '')
    .replace(yearAfterTime, '')
}

/** 14:05, 14:05:33.123Z, 2:05 PM, 2 pm, each with its zone. */
const clockTime =
  /(?<![A-SU-Za-z\d_:.])(?:(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-6]\d(?:[.,]\d{1,9})?)?(?![\d:])(?:\s?[AaPp]\.?[Mm]\b\.?)?|(?:1[0-2]|0?[1-9])\s?[AaPp]\.?[Mm]\b\.?)(?:Z\b|\s?(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d\d)?)?\b|\s?[A-Z]{2,4}T\b)?(?:\s?[+-]\d\d:?\d\d(?!\d))?(?: \([A-Z][A-Za-z ]{2,40} Time\))?/g
const epoch = /(?<![A-Za-z\d.])1[5-9]\d{8}(?:\d{3})?(?:\.\d{1,9})?(?![\w.]\d|\w)/g

/** Bounded, since the stack of expressions is. Names in programs have no digits and no two capitals in a row, which nearly all random texts of this length have. */
const randomIds: readonly RegExp[] = [
  // nanoid.
  /(?<![\w-])(?=[\w-]{0,20}[a-z])(?=[\w-]{0,20}[A-Z])(?=[A-Za-z_-]{0,20}\d|[\w-]{0,19}[A-Z]{2})[\w-]{21}(?![\w-])/g,
  // ULID.
  /(?<![A-Za-z\d])[0-7][\dA-HJKMNP-TV-Z]{25}(?![A-Za-z\d])/g,
  // After a known prefix, such as call_ or chatcmpl-.
  /(?<![A-Za-z\d])(?:asst|batch|call|chatcmpl|cmpl|conv|evt|fc|file|gen|item|job|msg|org|proj|req|resp|rs|run|sess|session|step|thread|toolu|trace|user)[_-](?=[A-Za-z]{0,60}\d|[A-Za-z]{0,60}[A-Z]{2})[A-Za-z\d]{8,99}(?![A-Za-z\d])/g,
  // After any other prefix.
  /(?<![A-Za-z\d])[A-Za-z][A-Za-z\d]{1,20}[_-](?=[A-Za-z]{0,60}\d)(?=\d{0,60}[A-Za-z])[A-Za-z\d]{12,99}(?![A-Za-z\d])/g,
  // Hexadecimal.
  /(?<![A-Za-z\d])(?=[a-f]{0,60}\d)(?=\d{0,60}[a-f])[\da-f]{16,128}(?![A-Za-z\d])/gi,
  // Long decimal numbers.
  /(?<![\w.])\d{17,20}(?![\w.]\d|\w)/g,
]
