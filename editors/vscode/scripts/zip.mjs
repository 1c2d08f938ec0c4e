// Zip archives of a few files. The same files make the same archive.
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** The first date there is. It is written as the local time, without a zone. */
const mtime = new Date(1980, 0, 1);
const REGULAR_FILE = 0o100000;

/** @param {{ name: string, data: Buffer, mode: number }[]} entries */
export async function zip(entries) {
    const archive = new ZipFile();
    for (const { name, data, mode } of entries) {
        archive.addBuffer(data, name, { mtime, mode: REGULAR_FILE | mode, compressionLevel: 9, forceDosTimestamp: true });
    }
    archive.end();
    return buffer(archive.outputStream);
}
