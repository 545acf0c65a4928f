/** Before the tests: builds dist/, so that those which start the real command never meet yesterday's. */
import { build } from 'rolldown'
import config from '../rolldown.config.js'

export default async function setup() {
  await build(config as Parameters<typeof build>[0])
}
