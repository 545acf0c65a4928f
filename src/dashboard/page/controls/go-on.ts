/** Keeps the keyboard in its group where the button that it was at goes away with what it has done. */

/** Brings it to the heading of the group once `work` is done, unless it has gone elsewhere meanwhile. */
export async function goOnInGroup(button: HTMLElement, work: Promise<boolean>): Promise<void> {
  const heading = button.closest('section')?.querySelector('h2')
  const done = await work
  const isStillHere = document.activeElement === button || document.activeElement === document.body
  if (done && isStillHere) heading?.focus()
}
