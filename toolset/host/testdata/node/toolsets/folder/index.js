exports.mark = 'common ';
