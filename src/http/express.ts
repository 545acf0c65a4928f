/**
 * Express, required as the CommonJS package that it is. Imported, it fails in Playwright's workers on Node 22.15: with hooks for
 * modules, that version says "request for './index.js' is not in cache".
 */
import { createRequire } from 'node:module'
import type { Router as ExpressRouter } from 'express'

export const express = createRequire(import.meta.url)('express') as typeof import('express')

export const { Router } = express
export type Router = ExpressRouter
