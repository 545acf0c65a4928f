/** Brings the keyboard to a setting, wherever it is folded away. */
import type { SettingName } from './settings.js'

type Place = SettingName | 'credential'

/** The id of the element where a setting is filled in. */
export const placeOf = (place: Place) => `setting-${place}`

export function goTo(place: Place): void {
  const field = document.getElementById(placeOf(place))
  for (let fold = field?.closest('details'); fold; fold = fold.parentElement?.closest('details')) fold.open = true
  field?.focus()
}
