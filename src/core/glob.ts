/** Patterns of names in which `*` stands for anything, slashes included, and `?` for any one character. */

/** What matches the whole of `written`. */
export const glob = (written: string): RegExp =>
  new RegExp(
    `^${written
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    's',
  )
