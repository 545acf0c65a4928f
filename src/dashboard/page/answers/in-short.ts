/** Conditions and replies of rules in a few words. A separate file because its test needs no page. */

const LONGEST = 140

/** `user "hello", model gpt-4o`. */
export function inShort(value: unknown): string {
  const line = words(value).replace(/\s+/g, ' ')
  return line.length > LONGEST ? `${line.slice(0, LONGEST).trimEnd()}…` : line
}

function words(value: unknown): string {
  if (typeof value === 'string') return /^\/.+\/[a-z]*$/s.test(value) ? value : JSON.stringify(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map(words).join(' or ')
  if (typeof value !== 'object' || value === null) return String(value)
  const parts = Object.entries(value).map(([name, one]) => {
    const said = words(one)
    return said === '' || name === 'contains' || name === 'name' ? said : `${name} ${said}`
  })
  return parts.filter(part => part !== '' && part !== 'type "function"').join(', ')
}
