/** The user that somebody configured with an address, for tokens that are made without a password. */
import type { LoadedConfig } from '../config/load.js'
import type { UserSeed } from '../supabase/seeds.js'

/** The development user with the public password is nobody's configuration, and stays where it is. */
export const configuredUser = ({ config: { users }, originOf }: LoadedConfig, email: string): UserSeed | undefined =>
  originOf(['users']) === 'default' ? undefined : users.find(seed => seed.email?.toLowerCase() === email)
