import { createShared } from './shared.js'

/** What was announced to screen readers last. */
export const announced = createShared('')

/** Announces a change on the page to screen readers. */
export const announce = announced.set
