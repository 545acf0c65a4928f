/** Made-up tokens that look like those of a backend. */
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

export const jwtLike = (role: string) =>
  [part({ alg: 'HS256', typ: 'JWT' }), part({ role, exp: 4_102_444_800 }), 'c2lnbmF0dXJl'.repeat(3)].join('.')
