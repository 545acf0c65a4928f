/** Reads .env files as the apps themselves do: the only file that imports dotenv. */
import { parse } from 'dotenv'

/** The variables of a .env file. */
export const parseDotEnv = (text: string): Readonly<Record<string, string>> => parse(text)
