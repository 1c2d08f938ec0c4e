// The browser that shows VS Code, and the settings that make a run in it the same on each machine.

import { chromium } from 'playwright-core';

/** Starts Chromium without a window. */
export function browser() {
    return chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: process.getuid() === 0 ? ['--no-sandbox'] : [],
    });
}

/** The size of a window. */
export const viewport = { width: 1440, height: 1100 };

/** The user's settings. */
export const settings = {
    'chat.disableAIFeatures': true,
    'editor.minimap.enabled': false,
    'editor.stickyScroll.enabled': false,
    'extensions.autoCheckUpdates': false,
    'extensions.autoUpdate': false,
    'extensions.ignoreRecommendations': true,
    'git.enabled': false,
    'telemetry.telemetryLevel': 'off',
    // As text in the page, not as a picture.
    'terminal.integrated.gpuAcceleration': 'off',
    'terminal.integrated.stickyScroll.enabled': false,
    'workbench.colorTheme': 'Default Dark Modern',
    'workbench.enableExperiments': false,
    'workbench.reduceMotion': 'on',
    'workbench.secondarySideBar.defaultVisibility': 'hidden',
    'workbench.startupEditor': 'none',
};
