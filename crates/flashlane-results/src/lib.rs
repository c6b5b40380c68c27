//! Files that a run leaves beside `summary.json`, for other programs.
