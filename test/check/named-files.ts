/** Documentation pages name files of the tree; each must exist at that path. */

const NAMED = /`((?:src|durable-objects|migrations|test|docs)\/[\w./-]*\.\w+)`/g

/** @returns the missing files that a page names */
export const missingFilesIn = (page: string, exists: (file: string) => boolean): string[] =>
  [...page.matchAll(NAMED)].map(([, file = '']) => file).filter((file) => !exists(file))
