/** Counts of requests, outcomes and durations, for Prometheus. */
export { createMeter, type Meter } from './meter.js'

/** The client library is loaded when metrics are read for the first time. */
export const loadExposition = () => import('./exposition.js')
