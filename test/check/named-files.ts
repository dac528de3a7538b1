/** Pages name files of the tree, which move: each must be where the page says. */

const NAMED = /`((?:src|durable-objects|migrations|test|docs)\/[\w./-]*\.\w+)`/g

/** @returns the files that a page names and that are not there */
export const missingFilesIn = (page: string, exists: (file: string) => boolean): string[] =>
  [...page.matchAll(NAMED)].map(([, file = '']) => file).filter((file) => !exists(file))
