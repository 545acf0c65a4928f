import { usePlatform } from 'standin/vitest'
import { test } from 'vitest'

const platform = usePlatform()
const { url } = platform

test('never runs', () => {
  throw new Error(url)
})
