/** A chance in percent. */

/** `5 %`, without the digits that nobody has written. */
export const percent = (chance: number) => `${Number((chance * 100).toFixed(4))} %`
